/** Options of `exec` and `spawn`. */
export interface SandboxProcessOptions {
  /** Working directory; the workspace root when left out. A missing one is `PROCESS_START_FAILED`. */
  cwd?: string
  /** Extra variables for this command only. A bad name is `INVALID_ENV_NAME`. Values never appear on a command line. */
  env?: Record<string, string>
  /** Ends the whole process tree, then rejects with `signal.reason`. */
  signal?: AbortSignal
}

/** Options of `exec`. */
export interface SandboxExecOptions extends SandboxProcessOptions {
  /** Ends the whole process tree after this many milliseconds; the result then has `timedOut: true`. None when left out. */
  timeoutMs?: number
  /** Standard input. Empty when left out, so that a program that reads it gets end of file at once. */
  stdin?: string | Uint8Array
  /** Most bytes kept of stdout and of stderr, each; the rest is read and dropped, and `truncated` is true. */
  maxOutputBytes?: number
  /** Called with each piece of decoded standard output as it arrives. Pieces are not lines. */
  onStdout?: (text: string) => void
  /** Called with each piece of decoded standard error as it arrives. */
  onStderr?: (text: string) => void
}

/**
 * How a command ended. A command killed by a signal has the shell's 128 + n; one ended by `timeoutMs` has 124 and
 * `timedOut`. Where the code cannot be known, the call rejects with `PROCESS_EXIT_UNKNOWN`; it is never guessed.
 */
export interface SandboxExecResult {
  stdout: string
  stderr: string
  exitCode: number
  timedOut?: boolean
  truncated?: boolean
}

/** A started process. Both outputs may be read once each; text is decoded so that no character is ever split. */
export interface SandboxSpawnHandle {
  readonly pid: number
  readonly stdout: AsyncIterable<string>
  readonly stderr: AsyncIterable<string>
  readonly stdin: {
    /** `PROCESS_STDIN_CLOSED` after `end` or after the process ended. */
    write: (data: string) => Promise<void>
    /** Gives the process end of file, if it still runs. After a rejection it may go on waiting. Repeatable. */
    end: () => Promise<void>
  }
  /** The exit code, as `SandboxExecResult` describes it; every call gives the same. */
  wait: () => Promise<number>
  /** Ends the process with all its descendants; resolves when they are gone. Default `SIGTERM`, then `SIGKILL`. Repeatable. */
  kill: (signal?: NodeJS.Signals | number) => Promise<void>
}

/** Commands of a sandbox, run by `sh`. stdout and stderr are kept apart. */
export interface SandboxProcess {
  /** Runs `command` to its end. A background child that keeps the outputs open does not hold the call up. Not repeatable. */
  exec: (command: string, options?: SandboxExecOptions) => Promise<SandboxExecResult>
  /** Starts `command` and returns at once. Not repeatable. */
  spawn: (command: string, options?: SandboxProcessOptions) => Promise<SandboxSpawnHandle>
}
