import { randomUUID } from 'node:crypto'
import {
  assertCheckpointEntries,
  assertCheckpointId,
  assertCheckpointIds,
  assertPageSize,
  checkpointForkRoot,
  compareUtf8,
  decodeCursor,
  encodeCursor,
} from '@holdfast/core'
import type {
  CheckpointAppendInput,
  CheckpointBlobReference,
  CheckpointForkInput,
  CheckpointSummary,
  CheckpointWriterLease,
  CheckpointWriterOptions,
  SandboxCheckpoint,
  SandboxCheckpointStore,
} from '@holdfast/core'
import type { StatementRunner } from '../database/database.ts'
import { maybeText, text } from '../database/row.ts'
import { violatedConstraint } from '../database/sql-errors.ts'
import type { Row } from '../database/statement.ts'
import { advanceHead } from '../statements/advance-head.ts'
import { lockHead } from '../statements/checkpoint-writers.ts'
import {
  deleteThreadCheckpoints,
  dropHead,
  findCheckpoint,
  findHead,
  firstSummaries,
  isThreadInUse,
  listCheckpoints,
  listSummaries,
} from '../statements/checkpoints.ts'
import { lockThreadContent } from '../statements/delete-thread.ts'
import { saveMessages } from '../statements/messages.ts'
import type { StoreContext } from '../store-context.ts'
import { countBlobReferences } from './blob-reference-counts.ts'
import {
  duplicateCheckpoint,
  forkDestinationInUse,
  forkSourceForeign,
  forkSourceMissing,
  notHead,
  parentMismatch,
  staleHead,
} from './checkpoint-errors.ts'
import { checkpointContent, checkpointItems } from './checkpoint-items.ts'
import { CheckpointNodes, dropNodes } from './checkpoint-nodes.ts'
import { eachPlannedNode, planCheckpoint } from './checkpoint-plan.ts'
import type { CheckpointPlan, ParentNodes } from './checkpoint-plan.ts'
import { checkpointHeader, checkpointNodeIds, checkpointSummary } from './checkpoint-rows.ts'
import { SqlCheckpointWriters, writerLost, writerParams } from './sql-checkpoint-writers.ts'
import type { WriterToken } from './sql-checkpoint-writers.ts'

const DEFAULT_LIMIT = 100

export class SqlCheckpointStore implements Required<SandboxCheckpointStore> {
  readonly #context: StoreContext
  readonly #nodes: CheckpointNodes
  readonly #writers: SqlCheckpointWriters

  constructor(context: StoreContext, options: CheckpointWriterOptions = {}) {
    this.#context = context
    this.#nodes = new CheckpointNodes(context.db)
    this.#writers = new SqlCheckpointWriters(context.db, options)
  }

  get: SandboxCheckpointStore['get'] = async (checkpointId) => {
    const row = await this.#find(assertCheckpointId('checkpointId', checkpointId))
    return row === undefined ? null : this.#checkpoint(row)
  }

  list: SandboxCheckpointStore['list'] = async (threadId) => {
    const rows = await this.#context.db.rows(listCheckpoints, [assertCheckpointId('threadId', threadId)])
    const checkpoints: SandboxCheckpoint[] = []
    for (const row of rows) checkpoints.push(await this.#checkpoint(row))
    return checkpoints
  }

  listSummaries = async (input: {
    threadId: string
    limit?: number
    cursor?: string
  }): Promise<{ checkpoints: CheckpointSummary[]; cursor?: string }> => {
    const { db } = this.#context
    const threadId = assertCheckpointId('threadId', input.threadId)
    const limit = assertPageSize(input.limit, DEFAULT_LIMIT)
    const rows =
      input.cursor === undefined
        ? await db.rows(firstSummaries, [threadId, limit + 1])
        : await db.rows(listSummaries, [threadId, ...decodeCursor(input.cursor, ['number', 'string']), limit + 1])
    const checkpoints = rows.slice(0, limit).map(checkpointSummary)
    const last = checkpoints.at(-1)
    if (rows.length <= limit || last === undefined) return { checkpoints }
    return { checkpoints, cursor: encodeCursor([last.createdAt, last.id]) }
  }

  getHead: SandboxCheckpointStore['getHead'] = async (threadId) => {
    const row = await this.#context.db.row(findHead, [assertCheckpointId('threadId', threadId)])
    return row === undefined ? null : (maybeText(row, 'head_id') ?? null)
  }

  append: SandboxCheckpointStore['append'] = async ({ checkpoint, expectedHeadId, writer }) => {
    await this.#assertUsable(checkpoint, writer)
    const parent = await this.#parentNodes(expectedHeadId)
    const appendId = randomUUID()
    const plan = planCheckpoint(checkpoint, parent, appendId)
    const check = (tx: StatementRunner, headId: string | null): Promise<'stored' | 'missing'> =>
      assertMayAppend(tx, { checkpoint, expectedHeadId, writer }, headId, appendId)
    await this.#store(plan, checkpoint, writer, check)
    return { headId: checkpoint.id }
  }

  deleteHead: SandboxCheckpointStore['deleteHead'] = async ({ threadId, checkpointId, writer }) => {
    await this.#writers.assertHeld(writer, threadId)
    assertCheckpointId('checkpointId', checkpointId)
    return this.#context.db.transaction(
      async (tx) => {
        const headId = await lockedHead(tx, writer, threadId)
        const gone = headId === checkpointId ? await tx.row(dropHead, [threadId, checkpointId]) : undefined
        if (gone === undefined) throw notHead(threadId, checkpointId)
        await dropNodes(tx, Object.values(checkpointNodeIds(gone)))
        return { headId: maybeText(gone, 'head_id') ?? null }
      },
      { repeatable: false },
    )
  }

  acquireWriter = async (threadId: string, options: { force?: boolean } = {}): Promise<CheckpointWriterLease> =>
    this.#writers.acquire(assertCheckpointId('threadId', threadId), options.force === true)

  listBlobReferences = async (): Promise<CheckpointBlobReference[]> => {
    const counts = await countBlobReferences(this.#context.db, this.#nodes)
    return [...counts].map(([key, references]) => ({ key, references })).toSorted((a, b) => compareUtf8(a.key, b.key))
  }

  forkFromCheckpoint = async (input: CheckpointForkInput): Promise<{ checkpoint: SandboxCheckpoint }> => {
    const { destinationThreadId: threadId, destinationCheckpointId: id, writer } = input
    await this.#writers.assertHeld(writer, threadId)
    const source = await this.#forkSource(input)
    const root = checkpointForkRoot(source, input)
    const appendId = randomUUID()
    const plan = planCheckpoint(root, undefined, appendId)
    const bodies = JSON.stringify(checkpointItems(root).conversation)
    await this.#store(plan, root, writer, async (tx) => {
      const found = await tx.row(findCheckpoint, [id])
      if (found?.['append_id'] === appendId) return 'stored'
      if (found !== undefined) throw duplicateCheckpoint(id)
      // The transcript's lock makes a save that is under way visible to the check.
      await tx.rows(lockThreadContent, [threadId])
      const use = await tx.row(isThreadInUse, [threadId])
      if (use?.['is_in_use'] === true) throw forkDestinationInUse(threadId)
      await tx.rows(saveMessages, [threadId, bodies, null, null])
      return 'missing'
    })
    return { checkpoint: (await this.get(id)) ?? root }
  }

  deleteThread = async (threadId: string): Promise<void> => {
    assertCheckpointId('threadId', threadId)
    await this.#context.db.transaction(
      async (tx) => {
        await tx.rows(lockThreadContent, [threadId])
        await tx.rows(deleteThreadCheckpoints, [threadId])
      },
      { repeatable: true },
    )
  }

  /** In the contract's order, and with a query for the writer only when something else is wrong as well. */
  async #assertUsable(checkpoint: SandboxCheckpoint, writer: CheckpointWriterLease): Promise<void> {
    try {
      assertCheckpointIds(checkpoint)
      assertCheckpointEntries(checkpoint)
    } catch (error) {
      await this.#writers.assertHeld(writer, checkpoint.threadId)
      throw error
    }
  }

  async #store(
    plan: CheckpointPlan,
    { id, threadId }: SandboxCheckpoint,
    writer: WriterToken,
    check: (tx: StatementRunner, headId: string | null) => Promise<'stored' | 'missing'>,
  ): Promise<void> {
    try {
      const row = await this.#context.db.transaction(
        async (tx) => {
          const headId = await lockedHead(tx, writer, threadId)
          return (await check(tx, headId)) === 'stored' ? undefined : tx.row(advanceHead, [plan.json])
        },
        { repeatable: true },
      )
      if (row !== undefined) {
        eachPlannedNode(plan, checkpointNodeIds(row), (nodeId, node) => this.#nodes.stored(nodeId, node))
      }
    } catch (error) {
      if (violatedConstraint(error) === 'checkpoints_pkey') throw duplicateCheckpoint(id)
      throw error
    }
  }

  async #forkSource({ sourceThreadId, sourceCheckpointId }: CheckpointForkInput): Promise<SandboxCheckpoint> {
    assertCheckpointId('sourceThreadId', sourceThreadId)
    const source = await this.get(sourceCheckpointId)
    if (source === null) throw forkSourceMissing(sourceCheckpointId)
    if (source.threadId !== sourceThreadId) throw forkSourceForeign(sourceCheckpointId)
    return source
  }

  async #parentNodes(parentId: string | null): Promise<ParentNodes> {
    const row = parentId === null ? undefined : await this.#find(parentId)
    if (row === undefined) return undefined
    const ids = checkpointNodeIds(row)
    return {
      files: await this.#nodes.load(ids.files),
      conversation: await this.#nodes.load(ids.conversation),
      artifacts: await this.#nodes.load(ids.artifacts),
    }
  }

  async #checkpoint(row: Row): Promise<SandboxCheckpoint> {
    const ids = checkpointNodeIds(row)
    const content = checkpointContent({
      files: [...(await this.#nodes.load(ids.files)).items],
      conversation: [...(await this.#nodes.load(ids.conversation)).items],
      artifacts: [...(await this.#nodes.load(ids.artifacts)).items],
    })
    return { ...checkpointHeader(row), ...content }
  }

  #find(checkpointId: string): Promise<Row | undefined> {
    return this.#context.db.row(findCheckpoint, [checkpointId])
  }
}

/** Locks the head and answers it; `SANDBOX_SNAPSHOT_WRITER_LOST` unless the writer is the live one. */
async function lockedHead(tx: StatementRunner, writer: WriterToken, threadId: string): Promise<string | null> {
  const params = writerParams(writer)
  const row = params === undefined || writer.threadId !== threadId ? undefined : await tx.row(lockHead, params)
  if (row?.['is_writer'] !== true) throw writerLost(threadId)
  return maybeText(row, 'head_id') ?? null
}

async function assertMayAppend(
  tx: StatementRunner,
  { checkpoint, expectedHeadId }: CheckpointAppendInput,
  headId: string | null,
  appendId: string,
): Promise<'stored' | 'missing'> {
  const found = await tx.row(findCheckpoint, [checkpoint.id])
  if (found !== undefined && text(found, 'append_id') === appendId) return 'stored'
  if (found !== undefined) throw duplicateCheckpoint(checkpoint.id)
  if (headId !== expectedHeadId) throw staleHead(checkpoint.threadId, expectedHeadId, headId)
  if (checkpoint.parentCheckpointId !== headId) throw parentMismatch(checkpoint.id, headId)
  return 'missing'
}
