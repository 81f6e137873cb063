/** What runs in a terminal, and how large it is. */
export interface SandboxTerminalOptions {
  /** Runs this instead of a login shell. */
  command?: string
  cols?: number
  rows?: number
  cwd?: string
  env?: Record<string, string>
  signal?: AbortSignal
}

/** A terminal. Output is raw bytes from the first one on; it may be read once. */
export interface SandboxTerminal {
  readonly output: AsyncIterable<Uint8Array>
  write: (data: string | Uint8Array) => Promise<void>
  resize: (size: { cols: number; rows: number }) => Promise<void>
  /** Ends what runs in it. Repeatable. */
  kill: () => Promise<void>
  /** The exit code, or null when the connection was lost first. Settles once, the same for every caller. */
  readonly exited: Promise<number | null>
  /** Lets go of the connection without ending what runs. Local and repeatable. */
  close: () => Promise<void>
}

/** Interactive terminals. Needs `terminal`. */
export interface SandboxTerminals {
  open: (options?: SandboxTerminalOptions) => Promise<SandboxTerminal>
}
