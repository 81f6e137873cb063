import { NotFoundError } from '@holdfast/core/provider-kit'
import { DaytonaAccount } from '../account/daytona-account.ts'
import { defaultTracer } from '../account/default-tracer.ts'
import { isGone } from '../errors.ts'
import { newNonce, sentinelLabel } from '../naming.ts'
import type { NormalizedDaytonaOptions } from '../options/daytona-options.ts'
import { createError, createSandbox, removeNew } from '../sandbox/create-sandbox.ts'
import { deleteSandbox, destroySandbox } from '../sandbox/destroy-sandbox.ts'
import { findSandbox, findSandboxByIdOrKey } from '../sandbox/find-sandbox.ts'
import { keepIdentity } from '../sandbox/keep-identity.ts'
import { parkSandbox } from '../sandbox/park-sandbox.ts'
import type { ParkMode } from '../sandbox/park-sandbox.ts'
import type { VendorSandbox } from '../sdk.ts'
import { HandleCache } from './handle-cache.ts'
import type { Teardown } from './lease-gate.ts'
import { LiveSandbox } from './live-sandbox.ts'
import { sentinelHash } from './sentinel.ts'
import { startAndPrepare } from './start-and-prepare.ts'
import { strangerError } from './stranger-error.ts'

export interface OpenNewInput {
  key?: string | undefined
  labels?: Readonly<Record<string, string>> | undefined
  owner?: readonly string[] | undefined
  adapterName?: string | undefined
  snapshot?: string | undefined
  isNetworkBlocked?: boolean | undefined
  signal?: AbortSignal | undefined
}

export interface ResumeLiveInput {
  /** The sandbox's id, or the key that it was created with. */
  sandboxId: string
  owner?: string | undefined
  /** What the sandbox has to carry; its own label when left out. */
  sentinel?: string | undefined
  signal?: AbortSignal | undefined
}

export type ResumeOutcome =
  | { readonly kind: 'live'; readonly live: LiveSandbox }
  | { readonly kind: 'gone' }
  /** It exists and is not the one that the owner made. */
  | { readonly kind: 'stranger' }

/** Makes, finds and tears down the live sandboxes of one account. Provider and leases are two faces of it. */
export class SandboxService {
  readonly account: DaytonaAccount
  readonly cache: HandleCache

  constructor(options: NormalizedDaytonaOptions) {
    this.account = new DaytonaAccount(options)
    this.cache = new HandleCache(this.account)
  }

  /** Ends what is open and forgets the handle; the sandbox goes on. */
  async letGo(sandboxId: string): Promise<void> {
    await this.#tearDown(sandboxId, 'released', () => Promise.resolve())
  }

  /** A new or adopted sandbox, ready for commands. What this call made is removed when any step fails. */
  async openNew(input: OpenNewInput): Promise<LiveSandbox> {
    const key = input.key ?? `once-${newNonce()}`
    const labels = { ...this.account.options.labels, ...input.labels }
    const { adapterName, snapshot, signal } = input
    const sentinel = sentinelHash(this.account.options, { owner: input.owner ?? [key], adapterName, snapshot })
    const { isNetworkBlocked } = input
    const created = await createSandbox(this.account, { key, labels, sentinel, snapshot, isNetworkBlocked, signal })
    try {
      const { sandbox, isNew } = created
      const prepared = await startAndPrepare(this.account, sandbox, { sentinel, replaceSentinel: isNew, signal })
      if (!isNew && prepared.sentinel !== (sentinelLabel(sandbox.labels) ?? sentinel)) throw strangerError(sandbox.id)
      const live = new LiveSandbox(this.account, sandbox, prepared)
      this.cache.put({ owner: input.owner === undefined ? '' : sentinel, sandboxId: live.id }, live)
      return live
    } catch (error) {
      if (created.isNew) await removeNew(this.account, created.sandbox, { key }, error)
      if (signal?.aborted === true) throw signal.reason
      throw createError(error, { key })
    }
  }

  /** The sandbox, started if need be. `gone` only when the service said so. */
  async resume(input: ResumeLiveInput): Promise<ResumeOutcome> {
    const { signal } = input
    let isStranger = false
    const live = await this.cache.get({ owner: input.owner ?? '', sandboxId: input.sandboxId }, async () => {
      const sandbox = await findSandboxByIdOrKey(this.account, input.sandboxId, signal)
      if (sandbox === null) return null
      const label = sentinelLabel(sandbox.labels)
      const expected = input.sentinel ?? label
      // A stranger's sandbox is not even started.
      isStranger = expected !== label && label !== undefined
      if (isStranger) return null
      const sentinel = input.sentinel === undefined ? label : undefined
      const prepared = await unlessGone(
        startAndPrepare(this.account, sandbox, { sentinel, replaceSentinel: false, signal }),
      )
      if (prepared === null) return null
      if (expected !== undefined && prepared.sentinel !== expected) isStranger = true
      return isStranger ? null : new LiveSandbox(this.account, sandbox, prepared)
    })
    if (isStranger) return { kind: 'stranger' }
    return live === null ? { kind: 'gone' } : { kind: 'live', live }
  }

  /** Ends what is open in the sandbox, then destroys it. Repeatable. */
  async destroy(sandboxId: string, signal?: AbortSignal): Promise<void> {
    await this.#tearDown(sandboxId, 'destroyed', () => destroySandbox(this.account, sandboxId, signal))
  }

  /** Ends what is open in the sandbox, then brings it to rest. */
  async park(sandboxId: string, mode: ParkMode, signal?: AbortSignal): Promise<void> {
    await this.#tearDown(sandboxId, 'parked', async () => {
      const sandbox = await findSandbox(this.account, sandboxId, signal)
      if (sandbox === null) throw goneError(sandboxId)
      await parkSandbox(this.account, sandbox, mode, signal)
    })
  }

  /** Stops, or removes what cannot be stopped. One that is gone is fine. */
  async parkOrDestroy(sandboxId: string, mode: ParkMode, signal?: AbortSignal): Promise<void> {
    await this.#tearDown(sandboxId, 'parked', async () => {
      const sandbox = await findSandbox(this.account, sandboxId, signal)
      if (sandbox === null) return
      try {
        if (mode === 'archive') await this.#shortenLife(sandbox, signal)
        await parkSandbox(this.account, sandbox, mode, signal)
      } catch (error) {
        if (isGone(error)) return
        if (signal?.aborted === true) throw error
        await deleteSandbox(this.account, sandbox, signal)
      }
    })
  }

  /** An archive that is not asked for any more goes after an hour. */
  async #shortenLife(sandbox: VendorSandbox, signal: AbortSignal | undefined): Promise<void> {
    await this.account.request({ operation: 'sandbox settings', isRepeatable: true, signal }, () =>
      keepIdentity(sandbox, () => sandbox.setAutoDeleteInterval(60)),
    )
  }

  async #tearDown(sandboxId: string, kind: Teardown, teardown: () => Promise<void>): Promise<void> {
    const held = await this.cache.find(sandboxId)
    const close = held.reduceRight<() => Promise<void>>(
      (next, live) => () =>
        live.gate.close(kind, async () => {
          // A destroyed sandbox takes its sessions along.
          await letGo(live, { endsSessions: kind !== 'destroyed' })
          await next()
        }),
      teardown,
    )
    await close()
    this.cache.evict(sandboxId)
  }

  /** Closes terminals and channels and lets go of the client. Destroys nothing. Repeatable. */
  async close(): Promise<void> {
    const held = await this.cache.drain()
    await Promise.allSettled(held.map((live) => letGo(live, { endsSessions: false })))
    await this.account.close()
  }
}

/** Null for a sandbox that the service says is gone. */
async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** Ends everything that is open, each also when another fails. */
async function letGo(live: LiveSandbox, how: { endsSessions: boolean }): Promise<void> {
  const open = [...live.openThings]
  live.openThings.clear()
  await Promise.allSettled(open.map(async (close) => close()))
  if (how.endsSessions) await live.sessions.endAll()
  live.sessions.forgetAll()
}

function goneError(sandboxId: string): NotFoundError {
  return new NotFoundError('SANDBOX_NOT_FOUND', `Sandbox ${sandboxId} does not exist.`)
}

/** The service of an account, in the app's own OpenTelemetry when the options name no tracer. */
export async function openSandboxService(options: NormalizedDaytonaOptions): Promise<SandboxService> {
  return new SandboxService({ ...options, tracer: options.tracer ?? (await defaultTracer()) })
}
