import type { ErrorDetails } from '@holdfast/core'
import { ConflictError, isHoldfastError, ProviderError, runWithDeadline } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { statusOf } from '../errors.ts'
import { sandboxName, serviceLabels } from '../naming.ts'
import type { VendorCreateInput, VendorSandbox } from '../sdk.ts'
import { deleteSandbox } from './destroy-sandbox.ts'
import { findOwnSandbox } from './find-sandbox.ts'
import { ensureStarted } from './start-sandbox.ts'

export interface CreateSandboxInput {
  key: string
  /** All labels that count for ownership. */
  labels: Readonly<Record<string, string>>
  /** Hash of what the sandbox is made from; see `lease/sentinel.ts`. */
  sentinel: string
  /** Overrides the image or snapshot of the options. */
  snapshot?: string | undefined
  isNetworkBlocked?: boolean | undefined
  signal?: AbortSignal | undefined
}

export interface CreatedSandbox {
  sandbox: VendorSandbox
  /** True when this call made it, so that a failure afterwards may remove it. */
  isNew: boolean
}

const CREATE_ATTEMPTS = 3
const LOOKUP_PAUSE_MS = 300
/** How long the vendor's client itself waits; after that the state is read by us, under the caller's signal. */
const CLIENT_WAIT_SECONDS = 60
/** How far the service's clock may be from ours. */
const CLOCK_SKEW_MS = 60_000

/**
 * Makes a sandbox that is started. Its name comes from the key, so that one whose reply was lost is found again instead
 * of made twice. Whatever this call made is removed when it fails.
 */
export async function createSandbox(account: DaytonaAccount, input: CreateSandboxInput): Promise<CreatedSandbox> {
  const startedAt = account.clock.now()
  let isNameTaken = false
  for (let attempt = 1; ; attempt += 1) {
    const sent = new SentCreate(account, input)
    try {
      return { sandbox: await sent.reply, isNew: true }
    } catch (error) {
      if (attempt === 1 && statusOf(error) === 409) isNameTaken = true
      const isNew = (found: VendorSandbox): boolean => !isNameTaken && isCreatedSince(found, startedAt - CLOCK_SKEW_MS)
      await stopOnAbort(account, input, sent, isNew)
      const found = await lookAfter(account, input, error)
      if (found !== null) return adopt(account, input, { sandbox: found, isNew: isNew(found) })
      if (attempt >= CREATE_ATTEMPTS || !mayRepeat(error)) throw createError(error, input)
      await account.pause(LOOKUP_PAUSE_MS * attempt, input.signal)
    }
  }
}

/** One create request, and the moment when it is over whatever became of our wait for it. */
class SentCreate {
  readonly reply: Promise<VendorSandbox>
  #isOver: Promise<unknown> = Promise.resolve()

  constructor(account: DaytonaAccount, input: CreateSandboxInput) {
    const timeoutMs = Math.min(account.options.timeoutMs, CLIENT_WAIT_SECONDS * 1000)
    const request = { operation: 'sandbox create', isRepeatable: false, timeoutMs, signal: input.signal }
    this.reply = account.request(request, (client) => {
      const created = client.create(createBody(account, input), { timeout: Math.max(1, Math.ceil(timeoutMs / 1000)) })
      this.#isOver = created.catch(() => undefined)
      return created
    })
  }

  over(): Promise<unknown> {
    return this.#isOver
  }
}

/** An aborted create waits for its request, so that what it made after all is removed, then rejects with the reason. */
async function stopOnAbort(
  account: DaytonaAccount,
  input: CreateSandboxInput,
  sent: SentCreate,
  isNew: (found: VendorSandbox) => boolean,
): Promise<void> {
  if (input.signal?.aborted !== true) return
  const operation = 'sandbox create'
  await runWithDeadline({ operation, timeoutMs: account.livenessMs, clock: account.clock }, () => sent.over()).catch(
    () => undefined,
  )
  const found = await findOwnSandbox(account, { key: input.key, labels: input.labels })
  if (found?.isOwn === true && isNew(found.sandbox)) await deleteSandbox(account, found.sandbox)
  throw input.signal.reason
}

function isCreatedSince(sandbox: VendorSandbox, epochMs: number): boolean {
  const createdAt = Date.parse(sandbox.createdAt ?? '')
  return Number.isNaN(createdAt) || createdAt >= epochMs
}

function createBody(account: DaytonaAccount, input: CreateSandboxInput): VendorCreateInput {
  const { options } = account
  const snapshot = input.snapshot ?? options.snapshot
  const ttlMinutes = lifetimeMinutes(account)
  return {
    name: sandboxName(input.key),
    language: options.language,
    labels: serviceLabels(input.key, input.sentinel, input.labels),
    autoStopInterval: options.autoStopMinutes,
    autoArchiveInterval: options.autoArchiveMinutes,
    autoDeleteInterval: options.autoDeleteMinutes,
    ...(ttlMinutes === undefined ? {} : { ttlMinutes }),
    ...(input.isNetworkBlocked === true ? { networkBlockAll: true } : {}),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(snapshot === undefined && options.image !== undefined
      ? { image: options.image, ...withResources(account) }
      : {}),
  } as VendorCreateInput
}

function withResources(account: DaytonaAccount): { resources?: Record<string, number> } {
  const { resources } = account.options
  if (resources === undefined) return {}
  return { resources: Object.fromEntries(Object.entries(resources).filter(([, value]) => value !== undefined)) }
}

/** Whole minutes that are left, rounded down so that the sandbox never outlives the request. */
function lifetimeMinutes(account: DaytonaAccount): number | undefined {
  const { expiresAt } = account.options
  if (expiresAt === undefined) return undefined
  const minutes = Math.floor((expiresAt - account.clock.now()) / 60_000)
  if (minutes >= 1) return minutes
  throw new ProviderError('SANDBOX_CREATE_FAILED', 'expiresAt is less than a minute away, so nothing was created.')
}

/** What stands under the name after a failed create; null when the service says nothing does. */
async function lookAfter(
  account: DaytonaAccount,
  input: CreateSandboxInput,
  error: unknown,
): Promise<VendorSandbox | null> {
  if (isHoldfastError(error, 'SANDBOX_CLOSED')) throw error
  if (!mayHaveMade(error)) return null
  const found = await findOwnSandbox(account, input)
  if (found === null) return null
  if (found.isOwn) return found.sandbox
  throw new ConflictError('SANDBOX_FOREIGN', `A sandbox named for ${input.key} exists with other labels.`, {
    details: { sandboxId: found.sandbox.id },
  })
}

/** Whether a sandbox may stand under the name although the create failed. */
function mayHaveMade(error: unknown): boolean {
  const status = statusOf(error)
  // A start that failed within the service's own wait is a 400, and the sandbox is there.
  return status === undefined || status === 400 || status === 408 || status === 409 || status >= 500
}

function mayRepeat(error: unknown): boolean {
  return isHoldfastError(error) && error.retryable
}

async function adopt(
  account: DaytonaAccount,
  input: CreateSandboxInput,
  found: CreatedSandbox,
): Promise<CreatedSandbox> {
  try {
    await ensureStarted(account, found.sandbox, input.signal)
    return found
  } catch (error) {
    if (found.isNew) await removeNew(account, found.sandbox, input, error)
    if (input.signal?.aborted === true) throw input.signal.reason
    throw createError(error, input)
  }
}

/** Removes what this call made. Says so when even that failed. */
export async function removeNew(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  input: { key: string },
  error: unknown,
): Promise<void> {
  try {
    await deleteSandbox(account, sandbox)
  } catch (deleteFailure) {
    const message = `Sandbox ${sandbox.id} could not be prepared, and not be removed either; destroy it.`
    throw new ProviderError('SANDBOX_DESTROY_FAILED', message, {
      cause: error,
      details: { sandboxId: sandbox.id, key: input.key, reason: codeOf(deleteFailure) },
      retryable: true,
    })
  }
}

/** The failure of a create as callers know it. Refusals and limits keep their own code. */
export function createError(error: unknown, input: { key: string }): unknown {
  const kept = [
    'PROVIDER_REFUSED',
    'PROVIDER_RATE_LIMITED',
    'SANDBOX_CLOSED',
    'SANDBOX_FOREIGN',
    'SANDBOX_CREATE_FAILED',
  ]
  if (isHoldfastError(error) && (kept.includes(error.code) || error.code.startsWith('PROVIDER_'))) {
    if (error.code !== 'PROVIDER_FAILED') return error
  }
  const details: ErrorDetails = { key: input.key, reason: codeOf(error), statusCode: statusOf(error) }
  const why = error instanceof Error ? ` ${error.message}` : ''
  return new ProviderError('SANDBOX_CREATE_FAILED', `The sandbox could not be created.${why}`, {
    cause: error,
    details,
  })
}

function codeOf(error: unknown): string | undefined {
  return isHoldfastError(error) ? error.code : undefined
}
