import type { SandboxAccess, SandboxAccessGrant } from '@holdfast/core'
import { InvalidInputError } from '@holdfast/core/provider-kit'
import { foreignAnswer, isGone, statusOf } from '../errors.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'

const MINUTE_MS = 60_000
const DEFAULT_MINUTES = 60
const MAX_MINUTES = 24 * 60

/** Time-limited SSH. The service keeps one grant at a time: a new one ends the one before. */
export class DaytonaAccess implements SandboxAccess {
  readonly #live: LiveSandbox
  /** Tokens by grant, since the service revokes by token and nothing else. */
  readonly #tokens = new Map<string, string>()

  constructor(live: LiveSandbox) {
    this.#live = live
  }

  async grant(options: { expiresInMs?: number } = {}): Promise<SandboxAccessGrant> {
    const minutes = Math.floor((options.expiresInMs ?? DEFAULT_MINUTES * MINUTE_MS) / MINUTE_MS)
    if (!(minutes >= 1 && minutes <= MAX_MINUTES)) {
      throw new InvalidInputError('INVALID_ARGUMENT', 'expiresInMs must be from 1 minute to 24 hours.')
    }
    const access = await this.#live.request({ operation: 'access grant', isRepeatable: true }, async () => {
      const granted = await this.#live.vendor.createSshAccess(minutes)
      if (typeof granted.token !== 'string') throw foreignAnswer('access grant')
      return granted
    })
    const accessId = access.id
    const expiresAt = new Date(access.expiresAt).getTime()
    this.#tokens.set(accessId, access.token)
    const until = new Date(expiresAt).toISOString()
    return {
      accessId,
      summary: `SSH access ${accessId} to sandbox ${this.#live.id}, until ${until}`,
      command: access.sshCommand,
      expiresAt,
    }
  }

  async revoke(accessId: string): Promise<void> {
    const token = this.#tokens.get(accessId)
    if (token === undefined) return
    try {
      await this.#live.request({ operation: 'access revoke', isRepeatable: true }, () =>
        this.#live.vendor.revokeSshAccess(token),
      )
    } catch (error) {
      if (!isGone(error) && statusOf(error) !== 404) throw error
    }
    this.#tokens.delete(accessId)
  }
}
