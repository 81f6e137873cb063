import { randomBytes } from 'node:crypto'
import type { DaytonaKnobs } from '../daytona-knobs.ts'
import type { SandboxRecord } from '../control/sandbox-record.ts'

interface SignedToken {
  readonly sandboxId: string
  readonly port: number
  readonly expiresAt: number
}

/**
 * Who may see a port. A sandbox's own token changes with every start, yet stays good for a while where the proxy has
 * accepted it before [P190]. Signed tokens belong to one port and survive restarts until they expire [A190].
 */
export class PreviewTokens {
  readonly #knobs: DaytonaKnobs
  readonly #now: () => number
  readonly #accepted = new Map<string, number>()
  readonly #signed = new Map<string, SignedToken>()

  constructor(knobs: DaytonaKnobs, now: () => number) {
    this.#knobs = knobs
    this.#now = now
  }

  accepts(record: SandboxRecord, token: string | undefined): boolean {
    if (token === undefined) return false
    const key = `${record.id} ${token}`
    if (token === record.authToken) {
      this.#accepted.set(key, this.#now() + this.#knobs.previewTokenCacheMs)
      return true
    }
    return this.#now() < (this.#accepted.get(key) ?? Number.NEGATIVE_INFINITY)
  }

  sign(sandboxId: string, port: number, seconds: number): string {
    const token = randomBytes(12).toString('hex')
    this.#signed.set(token, { sandboxId, port, expiresAt: this.#now() + seconds * 1_000 })
    return token
  }

  /** The sandbox that a signed token opens this port of. */
  findSigned(token: string, port: number): string | undefined {
    const signed = this.#signed.get(token)
    return signed && signed.port === port && this.#now() < signed.expiresAt ? signed.sandboxId : undefined
  }

  expire(token: string): void {
    this.#signed.delete(token)
  }
}
