import { randomBytes, randomUUID } from 'node:crypto'

interface SshAccess {
  readonly id: string
  readonly sandboxId: string
  readonly token: string
  readonly createdAt: number
  readonly expiresAt: number
}

const DEFAULT_MINUTES = 60
const MINUTE_MS = 60_000

/** Time-limited tokens for a shell. There is no SSH server behind them. */
export class SshAccessRegistry {
  readonly #byToken = new Map<string, SshAccess>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** Ends the earlier ones of the sandbox [A190]. */
  create(sandboxId: string, minutes: number = DEFAULT_MINUTES): object {
    this.revoke(sandboxId, undefined)
    const createdAt = this.#now()
    const token = randomBytes(16).toString('hex')
    const access = { id: randomUUID(), sandboxId, token, createdAt, expiresAt: createdAt + minutes * MINUTE_MS }
    this.#byToken.set(token, access)
    const time = new Date(createdAt).toISOString()
    return {
      id: access.id,
      sandboxId,
      token,
      expiresAt: new Date(access.expiresAt).toISOString(),
      createdAt: time,
      updatedAt: time,
      sshCommand: `ssh -p 2222 ${token}@127.0.0.1`,
    }
  }

  /** All of the sandbox without a token. */
  revoke(sandboxId: string, token: string | undefined): void {
    for (const access of this.#byToken.values()) {
      if (access.sandboxId === sandboxId && (token === undefined || access.token === token))
        this.#byToken.delete(access.token)
    }
  }

  validate(token: string): { valid: boolean; sandboxId: string } {
    const access = this.#byToken.get(token)
    const valid = access !== undefined && this.#now() < access.expiresAt
    return { valid, sandboxId: valid ? access.sandboxId : '' }
  }

  /** Live tokens of a sandbox. */
  count(sandboxId: string): number {
    return [...this.#byToken.values()].filter(
      (access) => access.sandboxId === sandboxId && this.#now() < access.expiresAt,
    ).length
  }
}
