import { assertMs, InvalidInputError } from '@holdfast/core'
import type { RunError } from '@holdfast/core'
import { toRunError } from '../runs/run-error.ts'
import { loadTelemetry } from '../telemetry/load-telemetry.ts'
import type { ReapReport } from './reap-outcome.ts'
import { reapConfig } from './reap-options.ts'
import type { ReapConfig, ReapRunsInput } from './reap-options.ts'
import { reapRuns } from './reap-runs.ts'
import type { SweepReport } from './sweep-outcome.ts'
import { sweepSandboxes } from './sweep-sandboxes.ts'

/** How often to reap and sweep, and who is told. */
export interface StartReaperInput extends ReapRunsInput {
  /** Time between two reaps, about: a tenth more or less, so that hosts do not reap in step. */
  everyMs: number
  /** Sweeps too, this often. Needs `sandbox`. No sweep when left out. */
  sweep?: { everyMs: number; minAgeMs: number }
  /** Gets what each reap did. */
  onReap?: (report: ReapReport) => void
  onSweep?: (report: SweepReport) => void
  /** Gets what went wrong. Default: a process warning. */
  onError?: (error: RunError) => void
  /** Between 0 and 1. Default `Math.random`. */
  random?: () => number
}

/** A reaper that runs in this process. */
export interface Reaper {
  /** Starts no further reap and waits for the one under way. Repeatable. */
  stop: () => Promise<void>
}

const JITTER = 0.1

/** Reaps again and again in this process, one at a time. The first one comes after a full interval. */
export function startReaper(input: StartReaperInput): Reaper {
  const config = reapConfig(input)
  assertIntervals(input)
  void loadTelemetry()
  const { random = Math.random } = input
  const sweepIsDue = dueEvery(config, input.sweep?.everyMs)
  let isStopped = false
  let cancelTimer = (): void => undefined
  let current: Promise<void> = Promise.resolve()
  const schedule = (): void => {
    if (isStopped) return
    const waitMs = input.everyMs * (1 + JITTER * (2 * random() - 1))
    cancelTimer = config.clock.schedule(waitMs, () => {
      current = round(input, config, sweepIsDue()).finally(schedule)
    })
  }
  schedule()
  return {
    async stop() {
      isStopped = true
      cancelTimer()
      await current
    },
  }
}

async function round(input: StartReaperInput, config: ReapConfig, withSweep: boolean): Promise<void> {
  const { onError = warn, sweep } = input
  try {
    const report = await reapRuns(input)
    input.onReap?.(report)
    for (const error of failuresOf(report)) onError(error)
    const { sandbox, stores, clock } = config
    if (!withSweep || sandbox === undefined || sweep === undefined) return
    const swept = await sweepSandboxes({ stores, sandbox, clock, minAgeMs: sweep.minAgeMs })
    input.onSweep?.(swept)
    for (const error of failuresOf({ sandboxes: swept.outcomes, errors: swept.errors })) onError(error)
  } catch (error) {
    warn(toRunError(error))
  }
}

interface Reported {
  runs?: readonly Failed[]
  sandboxes: readonly Failed[]
  journals?: readonly Failed[]
  errors: readonly RunError[]
}
type Failed = { error?: RunError }

function failuresOf({ runs = [], sandboxes, journals = [], errors }: Reported): RunError[] {
  return [
    ...errors,
    ...[...runs, ...sandboxes, ...journals].flatMap(({ error }) => (error === undefined ? [] : [error])),
  ]
}

function dueEvery({ clock }: ReapConfig, everyMs: number | undefined): () => boolean {
  let next = clock.monotonic() + (everyMs ?? Number.POSITIVE_INFINITY)
  return () => {
    if (everyMs === undefined || clock.monotonic() < next) return false
    next = clock.monotonic() + everyMs
    return true
  }
}

function assertIntervals({ everyMs, sweep, sandbox }: StartReaperInput): void {
  const intervals = { everyMs, 'sweep.everyMs': sweep?.everyMs ?? 1, 'sweep.minAgeMs': sweep?.minAgeMs ?? 1 }
  for (const [name, value] of Object.entries(intervals)) {
    if (assertMs(name, value) < 1) throw new InvalidInputError('INVALID_ARGUMENT', `${name} must be 1 or more.`)
  }
  if (sweep === undefined || sandbox !== undefined) return
  throw new InvalidInputError('INVALID_ARGUMENT', 'sweep needs `sandbox`, whose sandboxes are swept.')
}

function warn({ message, code }: RunError): void {
  process.emitWarning(`The reaper met an error: ${message}`, { code: code ?? 'HOLDFAST_REAPER' })
}
