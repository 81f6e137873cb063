/** Time-limited shell access. `summary` may be logged; `command` holds the credential and must not be. */
export interface SandboxAccessGrant {
  accessId: string
  summary: string
  command: string
  /** Epoch milliseconds by the service's clock. */
  expiresAt: number
}

/** A remote shell, for a person. Needs `access`. */
export interface SandboxAccess {
  /** `expiresInMs` is rounded down to whole minutes, 1 minute to 24 hours. A new grant may end earlier ones. */
  grant: (options?: { expiresInMs?: number }) => Promise<SandboxAccessGrant>
  /** Repeatable. */
  revoke: (accessId: string) => Promise<void>
}
