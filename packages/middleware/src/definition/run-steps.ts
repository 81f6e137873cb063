/** Takes back what a step did. Called at most once, newest step first. */
export type StepUndo = () => Promise<void> | void

/** One part of a longer piece of work. `run` returns how to take it back, or nothing when there is nothing to take back. */
export interface Step<State> {
  readonly name: string
  readonly run: (state: State) => Promise<StepUndo | void> | StepUndo | void
}

export interface RunStepsOptions {
  /** Looked at before each step, not after the last one; an abort counts as a failure with the signal's reason. */
  signal?: AbortSignal
  /** Called for each undo that failed; the failure also hangs on the first error, see `suppressedErrors`. */
  onUndoError?: (stepName: string, error: unknown) => void
}

const SUPPRESSED = new WeakMap<object, unknown[]>()

/**
 * Runs the steps in order. When one rejects, the finished ones are undone newest first and the call rejects with that
 * first error; undo failures never replace it. Resolves with one function that undoes everything, newest first.
 */
export async function runSteps<State>(
  steps: readonly Step<State>[],
  state: State,
  options: RunStepsOptions = {},
): Promise<() => Promise<unknown[]>> {
  const undos: { name: string; undo: StepUndo }[] = []
  const undoAll = async (): Promise<unknown[]> => {
    const errors: unknown[] = []
    for (let last = undos.pop(); last !== undefined; last = undos.pop()) {
      try {
        await last.undo()
      } catch (error) {
        errors.push(error)
        options.onUndoError?.(last.name, error)
      }
    }
    return errors
  }
  try {
    for (const step of steps) {
      options.signal?.throwIfAborted()
      const undo = await step.run(state)
      if (undo !== undefined) undos.push({ name: step.name, undo })
    }
  } catch (error) {
    suppress(error, await undoAll())
    throw error
  }
  return undoAll
}

function suppress(error: unknown, undoErrors: unknown[]): void {
  if (undoErrors.length > 0 && typeof error === 'object' && error !== null) SUPPRESSED.set(error, undoErrors)
}

/** What went wrong while taking back the steps before `error`. Empty when all went well. */
export function suppressedErrors(error: unknown): readonly unknown[] {
  return typeof error === 'object' && error !== null ? (SUPPRESSED.get(error) ?? []) : []
}
