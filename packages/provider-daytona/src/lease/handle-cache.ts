import { ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { isGone } from '../errors.ts'
import { refreshSandbox } from '../sandbox/find-sandbox.ts'
import { meaningOf } from '../sandbox/sandbox-states.ts'
import type { LiveSandbox } from './live-sandbox.ts'

const MINUTE_MS = 60_000

export interface CacheKey {
  /** The account, the owner and the sandbox: an id alone never finds anything. */
  owner: string
  sandboxId: string
}

/**
 * Live sandboxes by account, owner and id. A fill happens once however many ask; what could not be filled, is another
 * sandbox than asked for, or was torn down is not kept.
 */
export class HandleCache {
  readonly #account: DaytonaAccount
  readonly #entries = new Map<string, Promise<LiveSandbox>>()

  constructor(account: DaytonaAccount) {
    this.#account = account
  }

  /**
   * The cached sandbox if it still runs, else what `fill` gives. Null from `fill` is not kept. With `trustsRecent` the
   * service is asked only when it may have stopped the sandbox meanwhile, else always.
   */
  async get(
    key: CacheKey & { trustsRecent?: boolean },
    fill: () => Promise<LiveSandbox | null>,
  ): Promise<LiveSandbox | null> {
    const cached = await this.#fresh(key)
    if (cached !== undefined) return cached
    const name = this.#name(key)
    // Somebody else may have begun to fill it meanwhile.
    const filling = this.#entries.get(name)
    if (filling !== undefined) return filling.catch(() => this.get(key, fill))
    let isMissing = false
    const entry = fill().then((live) => {
      isMissing = live === null
      if (live === null) throw new ProviderError('PROVIDER_FAILED', 'There is no such sandbox.')
      return this.#assertId(key, live)
    })
    this.#entries.set(name, entry)
    try {
      return await entry
    } catch (error) {
      this.#entries.delete(name)
      if (isMissing) return null
      throw error
    }
  }

  /** Keeps a sandbox that was just made. */
  put(key: CacheKey, live: LiveSandbox): void {
    this.#entries.set(this.#name(key), Promise.resolve(live))
  }

  evict(sandboxId: string): void {
    for (const name of this.#entries.keys()) if (name.endsWith(`\n${sandboxId}`)) this.#entries.delete(name)
  }

  /** The live sandboxes with this id, whoever owns them. */
  async find(sandboxId: string): Promise<LiveSandbox[]> {
    const entries = [...this.#entries].filter(([name]) => name.endsWith(`\n${sandboxId}`)).map(([, entry]) => entry)
    const found = await Promise.all(entries.map((entry) => entry.catch(() => undefined)))
    return found.filter((live) => live !== undefined)
  }

  /** Lets go of everything, and answers what was held. */
  async drain(): Promise<LiveSandbox[]> {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    const held = await Promise.all(entries.map((entry) => entry.catch(() => undefined)))
    return held.filter((live) => live !== undefined)
  }

  async #fresh(key: CacheKey & { trustsRecent?: boolean }): Promise<LiveSandbox | undefined> {
    const entry = this.#entries.get(this.#name(key))
    if (entry === undefined) return undefined
    const live = await entry.catch(() => undefined)
    if (live === undefined || !live.gate.isOpen) return undefined
    this.#assertId(key, live)
    if (key.trustsRecent === true && this.#surelyRuns(live)) return live
    if (await this.#stillRuns(live)) return live
    if (this.#entries.get(this.#name(key)) === entry) this.#entries.delete(this.#name(key))
    return undefined
  }

  /** The service stops idle sandboxes; half of that time is taken as safe. */
  #surelyRuns(live: LiveSandbox): boolean {
    const halfMs = (this.#account.options.autoStopMinutes * MINUTE_MS) / 2
    return halfMs > 0 && live.idleMs < halfMs && meaningOf(live.vendor.state) === 'ready'
  }

  async #stillRuns(live: LiveSandbox): Promise<boolean> {
    try {
      await refreshSandbox(this.#account, live.vendor)
    } catch (error) {
      if (isGone(error)) return false
      this.evict(live.id)
      throw error
    }
    return meaningOf(live.vendor.state) === 'ready'
  }

  #assertId(key: CacheKey, live: LiveSandbox): LiveSandbox {
    if (live.id === key.sandboxId && live.vendor.id === key.sandboxId) return live
    this.evict(key.sandboxId)
    throw new ProviderError(
      'PROVIDER_FAILED',
      `A handle for sandbox ${key.sandboxId} turned out to be for another one.`,
    )
  }

  #name(key: CacheKey): string {
    return `${this.#account.fingerprint}\n${key.owner}\n${key.sandboxId}`
  }
}
