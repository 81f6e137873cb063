import type { CheckpointSummary, SandboxCheckpoint } from '../content/checkpoint.ts'
import {
  assertCheckpointEntries,
  assertCheckpointId,
  assertCheckpointIds,
  checkpointBlobKeys,
} from '../content/checkpoint-check.ts'
import { checkpointForkRoot } from '../content/checkpoint-fork-root.ts'
import type {
  CheckpointAppendInput,
  CheckpointBlobReference,
  CheckpointForkInput,
  CheckpointWriterLease,
  SandboxCheckpointStore,
} from '../content/checkpoint-store.ts'
import type { CheckpointWriterOptions } from '../content/checkpoint-writer-times.ts'
import { summarizeCheckpoint } from '../content/checkpoint-summary.ts'
import { ConflictError, NotFoundError } from '../errors/error-classes.ts'
import type { ErrorCode } from '../errors/error-codes.ts'
import { decodeJson, encodeExactJson } from '../exact-json.ts'
import { assertPageSize, decodeCursor, encodeCursor } from '../page.ts'
import { reviveMessages } from '../threads/message-json.ts'
import { compareUtf8 } from '../utf8-order.ts'
import { CheckpointWriters } from './checkpoint-writers.ts'
import { MemoryState } from './memory-state.ts'

const DEFAULT_PAGE_SIZE = 100

/** Checkpoints in a chain per thread, in memory. */
export class MemoryCheckpointStore implements Required<SandboxCheckpointStore> {
  readonly #state: MemoryState
  readonly #writers: CheckpointWriters

  constructor(state = new MemoryState(), options: CheckpointWriterOptions = {}) {
    this.#state = state
    this.#writers = new CheckpointWriters(state, options)
  }

  async get(checkpointId: string): Promise<SandboxCheckpoint | null> {
    this.#state.assertOpen()
    const checkpoint = this.#state.checkpoints.find(assertCheckpointId('checkpointId', checkpointId))
    return checkpoint === undefined ? null : copyCheckpoint(checkpoint)
  }

  async list(threadId: string): Promise<SandboxCheckpoint[]> {
    return this.#ofThread(threadId).map(copyCheckpoint)
  }

  async listSummaries(input: {
    threadId: string
    limit?: number
    cursor?: string
  }): Promise<{ checkpoints: CheckpointSummary[]; cursor?: string }> {
    const limit = assertPageSize(input.limit, DEFAULT_PAGE_SIZE)
    const before = input.cursor === undefined ? undefined : positionOf(input.cursor)
    const matches = this.#ofThread(input.threadId)
      .reverse()
      .filter((checkpoint) => before === undefined || compareCheckpoints(checkpoint, before) < 0)
    const page = matches.slice(0, limit)
    const checkpoints = page.map((checkpoint) => summarizeCheckpoint(copyCheckpoint(checkpoint)))
    const last = page.at(-1)
    if (last === undefined || matches.length <= limit) return { checkpoints }
    return { checkpoints, cursor: encodeCursor([last.createdAt, last.id]) }
  }

  async getHead(threadId: string): Promise<string | null> {
    this.#state.assertOpen()
    return this.#state.checkpoints.findHead(assertCheckpointId('threadId', threadId))
  }

  async append({ checkpoint, expectedHeadId, writer }: CheckpointAppendInput): Promise<{ headId: string }> {
    const { checkpoints } = this.#state
    this.#state.assertOpen()
    this.#writers.assertHeld(writer, checkpoint.threadId)
    assertCheckpointIds(checkpoint)
    assertCheckpointEntries(checkpoint)
    if (checkpoints.find(checkpoint.id) !== undefined) throw duplicateId(checkpoint.id)
    const headId = checkpoints.findHead(checkpoint.threadId)
    if (headId !== expectedHeadId) {
      const message = `Thread ${checkpoint.threadId} has a newer head checkpoint than expected; read it and try again.`
      throw conflict('SANDBOX_SNAPSHOT_STALE_HEAD', message, { expectedHeadId, headId })
    }
    if (checkpoint.parentCheckpointId !== headId) {
      const message = `Checkpoint ${checkpoint.id} does not name the current head as its parent.`
      throw conflict('SANDBOX_SNAPSHOT_PARENT_MISMATCH', message, { headId })
    }
    this.#append(copyCheckpoint(checkpoint))
    return { headId: checkpoint.id }
  }

  async deleteHead(input: {
    threadId: string
    checkpointId: string
    writer: CheckpointWriterLease
  }): Promise<{ headId: string | null }> {
    const { checkpoints } = this.#state
    this.#state.assertOpen()
    const { threadId, checkpointId, writer } = input
    this.#writers.assertHeld(writer, threadId)
    assertCheckpointId('checkpointId', checkpointId)
    const head = checkpoints.find(checkpointId)
    if (head === undefined || checkpoints.findHead(threadId) !== checkpointId) {
      const message = `Checkpoint ${checkpointId} is not the head of thread ${threadId}; only the head can be deleted.`
      throw conflict('SANDBOX_SNAPSHOT_NOT_HEAD', message, { checkpointId })
    }
    return { headId: checkpoints.deleteHead(head) }
  }

  async acquireWriter(threadId: string, options: { force?: boolean } = {}): Promise<CheckpointWriterLease> {
    this.#state.assertOpen()
    return this.#writers.acquire(assertCheckpointId('threadId', threadId), options.force === true)
  }

  async listBlobReferences(): Promise<CheckpointBlobReference[]> {
    this.#state.assertOpen()
    const counts = new Map<string, number>()
    for (const checkpoint of this.#state.checkpoints.all()) {
      for (const key of checkpointBlobKeys(checkpoint)) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return [...counts].map(([key, references]) => ({ key, references })).sort((a, b) => compareUtf8(a.key, b.key))
  }

  async forkFromCheckpoint(input: CheckpointForkInput): Promise<{ checkpoint: SandboxCheckpoint }> {
    const { checkpoints, messages } = this.#state
    this.#state.assertOpen()
    this.#writers.assertHeld(input.writer, input.destinationThreadId)
    const source = this.#forkSource(input)
    const { destinationThreadId: threadId, destinationCheckpointId: id } = input
    if (checkpoints.find(id) !== undefined) throw duplicateId(id)
    if (checkpoints.ofThread(threadId).length > 0 || hasMessages(messages.get(threadId))) {
      const message = `Thread ${threadId} already has messages or checkpoints; fork into a new thread.`
      throw conflict('SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY', message, { threadId })
    }
    const root = checkpointForkRoot(source, input)
    this.#append(copyCheckpoint(root))
    messages.set(threadId, encodeExactJson(root.conversation))
    return { checkpoint: copyCheckpoint(root) }
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#state.assertOpen()
    this.#state.checkpoints.deleteThread(assertCheckpointId('threadId', threadId))
  }

  /** Also keeps the bytes it names from being collected until the next look. */
  #append(checkpoint: SandboxCheckpoint): void {
    const { checkpoints, blobs, clock } = this.#state
    checkpoints.append(checkpoint)
    for (const key of checkpointBlobKeys(checkpoint)) {
      const blob = blobs.get(key)
      if (blob !== undefined) blob.touchedAt = clock.now()
    }
  }

  #forkSource({ sourceThreadId, sourceCheckpointId }: CheckpointForkInput): SandboxCheckpoint {
    assertCheckpointId('sourceThreadId', sourceThreadId)
    const source = this.#state.checkpoints.find(assertCheckpointId('sourceCheckpointId', sourceCheckpointId))
    const details = { sourceCheckpointId }
    if (source === undefined) {
      const message = `Checkpoint ${sourceCheckpointId} does not exist; it cannot be forked from.`
      throw new NotFoundError('SANDBOX_SNAPSHOT_FORK_SOURCE_NOT_FOUND', message, { details })
    }
    if (source.threadId === sourceThreadId) return source
    const message = `Checkpoint ${sourceCheckpointId} belongs to another thread.`
    throw new ConflictError('SANDBOX_SNAPSHOT_FORK_SOURCE_THREAD_MISMATCH', message, { details })
  }

  #ofThread(threadId: string): SandboxCheckpoint[] {
    this.#state.assertOpen()
    return this.#state.checkpoints.ofThread(assertCheckpointId('threadId', threadId)).sort(compareCheckpoints)
  }
}

type Position = Pick<SandboxCheckpoint, 'createdAt' | 'id'>

function compareCheckpoints(a: Position, b: Position): number {
  return a.createdAt - b.createdAt || compareUtf8(a.id, b.id)
}

function positionOf(cursor: string): Position {
  const [createdAt, id] = decodeCursor(cursor, ['number', 'string']) as [number, string]
  return { createdAt, id }
}

function copyCheckpoint(checkpoint: SandboxCheckpoint): SandboxCheckpoint {
  const copy = decodeJson(encodeExactJson(checkpoint), 'checkpoint') as SandboxCheckpoint
  reviveMessages(copy.conversation)
  return copy
}

function hasMessages(text: string | undefined): boolean {
  return text !== undefined && text !== '[]'
}

function duplicateId(checkpointId: string): ConflictError {
  const message = `A checkpoint ${checkpointId} exists already; use a fresh id.`
  return conflict('SANDBOX_SNAPSHOT_DUPLICATE_ID', message, { checkpointId })
}

function conflict(code: ErrorCode, message: string, details: { [key: string]: string | null }): ConflictError {
  return new ConflictError(code, message, { details })
}
