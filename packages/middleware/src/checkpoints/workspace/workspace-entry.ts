/** What stands at one path of a live workspace. `other` is a pipe, a socket, a device or the like. */
export interface WorkspaceEntry {
  readonly path: string
  readonly kind: 'file' | 'dir' | 'symlink' | 'other'
  /** Permission bits without set-user, set-group and sticky. */
  readonly mode: number
  /** Bytes. */
  readonly size: number
  /** Of a link. */
  readonly target?: string
  /** Equal only when nothing touched the entry in between; absent where the sandbox cannot tell. */
  readonly stamp?: string
  /** Last change of the entry, seconds by the sandbox's clock. */
  readonly changedAt?: number
}

/** Why an entry of a listing cannot be kept. */
export interface UnusableEntry {
  /** For people: bytes that are no text are shown as `\xNN`. */
  readonly path: string
  readonly reason: string
}

export interface WorkspaceListing {
  /** By path. */
  readonly entries: ReadonlyMap<string, WorkspaceEntry>
  /** What was not looked into because the policy excludes it. */
  readonly excluded: readonly string[]
  readonly unusable: readonly UnusableEntry[]
  /** When it began, seconds by the sandbox's clock. Absent where the sandbox cannot tell. */
  readonly startedAt?: number
}

/** Linux refuses longer paths; the rest is `./` and the terminator. */
export const MAX_PATH_BYTES = 4_093

/** Set-user, set-group and sticky bits are neither kept nor restored. */
export const KEPT_MODE_BITS = 0o777
