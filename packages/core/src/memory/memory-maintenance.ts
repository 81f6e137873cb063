import { checkpointBlobKeys } from '../content/checkpoint-check.ts'
import type { SandboxCheckpoint } from '../content/checkpoint.ts'
import { InvalidInputError } from '../errors/error-classes.ts'
import { assertMs } from '../identifier.ts'
import type { CheckpointRetention, StoreMaintenance, StorePruneInput, StorePruneResult } from '../store-maintenance.ts'
import { compareUtf8 } from '../utf8-order.ts'
import type { MemoryState } from './memory-state.ts'

/** A save may take this long from storing its bytes to naming them. */
const MIN_GRACE_MS = 600_000
const COLLECTED = /^sandbox-(?:files|artifacts)\/sha256\//

/** Retention for stores in memory. */
export class MemoryMaintenance implements StoreMaintenance {
  readonly #state: MemoryState

  constructor(state: MemoryState) {
    this.#state = state
  }

  async prune(input: StorePruneInput): Promise<StorePruneResult> {
    this.#state.assertOpen()
    assertPruneInput(input)
    const surplus = input.checkpoints === undefined ? [] : this.#surplus(input.checkpoints)
    const gone = new Set(surplus.map(({ id }) => id))
    const unnamed = input.blobs === undefined ? [] : this.#unnamed(input.blobs.graceMs, gone)
    const blobBytes = unnamed.reduce((sum, key) => sum + (this.#state.blobs.get(key)?.bytes.length ?? 0), 0)
    if (input.dryRun !== true) {
      for (const checkpoint of surplus) this.#state.checkpoints.delete(checkpoint)
      for (const key of unnamed) this.#state.blobs.delete(key)
    }
    return { checkpoints: surplus.length, blobs: unnamed.length, blobBytes }
  }

  #surplus({ keepLast, keepNamed = true, maxAgeMs }: CheckpointRetention): SandboxCheckpoint[] {
    const { checkpoints, clock } = this.#state
    const byThread = new Map<string, SandboxCheckpoint[]>()
    for (const checkpoint of checkpoints.all()) {
      const siblings = byThread.get(checkpoint.threadId)
      if (siblings === undefined) byThread.set(checkpoint.threadId, [checkpoint])
      else siblings.push(checkpoint)
    }
    return [...byThread].flatMap(([threadId, siblings]) => {
      const headId = checkpoints.findHead(threadId)
      siblings.sort((a, b) => b.createdAt - a.createdAt || compareUtf8(b.id, a.id))
      return siblings.filter(({ id, reason, createdAt }, index) => {
        if (id === headId || (keepNamed && reason === 'named')) return false
        if (keepLast !== undefined && index < keepLast) return false
        return maxAgeMs === undefined || createdAt < clock.now() - maxAgeMs
      })
    })
  }

  #unnamed(graceMs: number, gone: ReadonlySet<string>): string[] {
    const { checkpoints, artifacts, blobs, clock } = this.#state
    const named = new Set<string>()
    for (const checkpoint of checkpoints.all()) {
      if (!gone.has(checkpoint.id)) for (const key of checkpointBlobKeys(checkpoint)) named.add(key)
    }
    for (const { blobKey } of artifacts.values()) if (blobKey !== undefined) named.add(blobKey)
    const before = clock.now() - graceMs
    return [...blobs].flatMap(([key, { touchedAt }]) =>
      COLLECTED.test(key) && !named.has(key) && touchedAt < before ? [key] : [],
    )
  }
}

function assertPruneInput({ checkpoints, blobs }: StorePruneInput): void {
  const { keepLast, maxAgeMs } = checkpoints ?? {}
  if (maxAgeMs !== undefined) assertMs('checkpoints.maxAgeMs', maxAgeMs)
  if (keepLast !== undefined && !(Number.isSafeInteger(keepLast) && keepLast >= 1)) {
    throw invalid('checkpoints.keepLast must be a whole number, 1 or more.')
  }
  if (checkpoints !== undefined && keepLast === undefined && maxAgeMs === undefined) {
    throw invalid('checkpoints needs keepLast or maxAgeMs.')
  }
  if (blobs !== undefined && !(blobs.graceMs >= MIN_GRACE_MS)) {
    throw invalid(`blobs.graceMs must be ${MIN_GRACE_MS} or more: a save in progress needs that long.`)
  }
}

function invalid(message: string): InvalidInputError {
  return new InvalidInputError('INVALID_ARGUMENT', message)
}
