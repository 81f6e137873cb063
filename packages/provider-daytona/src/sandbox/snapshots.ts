import { isHoldfastError, ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { foreignAnswer, isGone, statusOf } from '../errors.ts'
import type { VendorSandbox } from '../sdk.ts'
import { refreshSandbox } from './find-sandbox.ts'
import { keepIdentity } from './keep-identity.ts'

/** How long a snapshot that the service called done may stay out of sight. */
const MAX_UNSEEN_MS = 20_000
const POLL_MS = 200
const MAX_POLL_MS = 1_000
const CLIENT_WAIT_SECONDS = 30

/**
 * Takes a snapshot of the sandbox's disk and resolves when reading it back proves that it exists, is usable and came
 * from this sandbox: the service reports success for failed ones too.
 */
export async function takeSnapshot(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  name: string,
  signal?: AbortSignal,
): Promise<string> {
  await startSnapshot(account, sandbox, name, signal)
  const startedAt = account.clock.monotonic()
  let unseenSince = startedAt
  for (let pauseMs = POLL_MS; ; pauseMs = Math.min(MAX_POLL_MS, pauseMs * 1.5)) {
    const now = account.clock.monotonic()
    const found = await findSnapshot(account, name, signal)
    if (found !== null) {
      unseenSince = now
      assertFromSandbox(found, sandbox, name)
      if (found.state === 'active') return name
      if (['error', 'build_failed', 'removing'].includes(found.state)) throw snapshotError(name, found.state)
    }
    await refreshSandbox(account, sandbox, signal)
    // Its time counts from when the sandbox was done with it, which may be minutes after the request.
    if (sandbox.state === 'snapshotting') unseenSince = now
    if (now - unseenSince > MAX_UNSEEN_MS) throw snapshotError(name, 'missing')
    if (now - startedAt > account.options.timeoutMs) throw snapshotError(name, 'late')
    await account.pause(pauseMs, signal)
  }
}

async function startSnapshot(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  name: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const timeoutMs = (CLIENT_WAIT_SECONDS + 5) * 1000
  for (let attempt = 1; ; attempt += 1) {
    try {
      await account.request({ operation: 'snapshot take', isRepeatable: false, timeoutMs, signal }, () =>
        keepIdentity(sandbox, () =>
          typeof sandbox.createSnapshot === 'function'
            ? sandbox.createSnapshot(name, CLIENT_WAIT_SECONDS)
            : sandbox._experimental_createSnapshot(name, CLIENT_WAIT_SECONDS),
        ),
      )
      return
    } catch (error) {
      if (signal?.aborted === true) throw error
      const status = statusOf(error)
      if (status === 409 && attempt < 20) {
        await account.pause(Math.min(2_000, 100 * attempt), signal)
        continue
      }
      // The request may have been taken, or its wait was too short: reading back decides.
      const isUnknown = status === undefined || status >= 500 || status === 408
      if (!isUnknown || isHoldfastError(error, 'SANDBOX_CLOSED')) throw error
      return
    }
  }
}

export interface SnapshotView {
  state: string
  sourceSandboxId?: string | null | undefined
}

/** Null only when the service says that there is none. */
export async function findSnapshot(
  account: DaytonaAccount,
  name: string,
  signal?: AbortSignal,
): Promise<SnapshotView | null> {
  try {
    return await account.request({ operation: 'snapshot read', isRepeatable: true, signal }, async (client) => {
      const { name: held, state, sourceSandboxId } = await client.snapshot.get(name)
      if (held !== name) throw foreignAnswer('snapshot read')
      return { state: String(state), sourceSandboxId }
    })
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** A snapshot that was not used for long has to be made active again before anything can be created from it. */
export async function ensureSnapshotActive(
  account: DaytonaAccount,
  name: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const startedAt = account.clock.monotonic()
  let isActivated = false
  for (;;) {
    const found = await findSnapshot(account, name, signal)
    if (found === null) return false
    if (found.state === 'active') return true
    if (['error', 'build_failed', 'removing'].includes(found.state)) throw snapshotError(name, found.state)
    if (found.state === 'inactive' && !isActivated) {
      isActivated = true
      await account
        .request({ operation: 'snapshot activate', isRepeatable: true, signal }, (client) =>
          client.snapshot.activate(name),
        )
        // Somebody else may have done it meanwhile: the next reading decides.
        .catch((error: unknown) => (statusOf(error) === 400 ? undefined : Promise.reject(error)))
      continue
    }
    if (account.clock.monotonic() - startedAt > account.options.timeoutMs) throw snapshotError(name, 'late')
    await account.pause(MAX_POLL_MS, signal)
  }
}

/** Repeatable. */
export async function deleteSnapshot(account: DaytonaAccount, name: string, signal?: AbortSignal): Promise<void> {
  try {
    await account.request({ operation: 'snapshot delete', isRepeatable: true, signal }, (client) =>
      client.snapshot.delete(name),
    )
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

function assertFromSandbox(found: SnapshotView, sandbox: VendorSandbox, name: string): void {
  const source = found.sourceSandboxId
  if (source === undefined || source === null || source === sandbox.id) return
  throw new ProviderError('PROVIDER_FAILED', `A snapshot named ${name} exists already and came from another sandbox.`)
}

function snapshotError(name: string, state: string): ProviderError {
  const message = `Snapshot ${name} was not made: it is ${state}.`
  return new ProviderError('PROVIDER_FAILED', message, { details: { snapshot: name, state }, retryable: true })
}
