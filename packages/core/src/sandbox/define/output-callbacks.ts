import type { SandboxExecOptions } from '../sandbox-process.ts'

type OutputMethods = Pick<SandboxExecOptions, 'onStdout' | 'onStderr'>

/**
 * A caller's output callbacks, kept from breaking the backend: after one throws, none is called again, and the failure
 * is the caller's once the command has ended.
 */
export class OutputCallbacks {
  readonly methods: OutputMethods
  #failure: { error: unknown } | undefined

  constructor(options: OutputMethods) {
    this.methods = {
      ...(options.onStdout === undefined ? {} : { onStdout: this.#guard(options.onStdout) }),
      ...(options.onStderr === undefined ? {} : { onStderr: this.#guard(options.onStderr) }),
    }
  }

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.error as Error
  }

  #guard(callback: (text: string) => void): (text: string) => void {
    return (text) => {
      if (this.#failure !== undefined) return
      try {
        callback(text)
      } catch (error) {
        this.#failure = { error }
      }
    }
  }
}
