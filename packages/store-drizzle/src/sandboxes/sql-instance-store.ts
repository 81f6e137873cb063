import {
  assertId,
  assertInstanceRecord,
  assertInstanceState,
  assertMs,
  assertPageSize,
  decodeCursor,
  decodeJson,
  encodeCursor,
  encodeExactJson,
} from '@holdfast/core'
import type { SandboxInstanceListInput, SandboxInstanceRecord, SandboxInstanceStore } from '@holdfast/core'
import { maybeText, number, text } from '../database/row.ts'
import type { Row, SqlValue } from '../database/statement.ts'
import {
  deleteInstance,
  findInstance,
  listInstances,
  listThreadInstances,
  listUnsettledInstances,
  upsertInstance,
} from '../statements/sandbox-instances.ts'
import type { StoreContext } from '../store-context.ts'

const DEFAULT_LIMIT = 100

export class SqlInstanceStore implements SandboxInstanceStore {
  readonly #context: StoreContext

  constructor(context: StoreContext) {
    this.#context = context
  }

  get: SandboxInstanceStore['get'] = async (key) => {
    assertId('key', key)
    const row = await this.#context.db.row(findInstance, [key])
    return row === undefined ? null : instanceRecord(row)
  }

  upsert: SandboxInstanceStore['upsert'] = async (record) => {
    assertInstanceRecord(record)
    await this.#context.db.rows(upsertInstance, [
      record.key,
      record.provider,
      record.providerSandboxId,
      record.latestSnapshotId ?? null,
      record.threadId,
      record.latestRunId ?? null,
      record.updatedAt,
      record.state ?? null,
      record.labels === undefined ? null : encodeExactJson(record.labels),
    ])
  }

  delete: SandboxInstanceStore['delete'] = async (key) => {
    assertId('key', key)
    await this.#context.db.rows(deleteInstance, [key])
  }

  list = async (input: SandboxInstanceListInput): Promise<{ records: SandboxInstanceRecord[]; cursor?: string }> => {
    const limit = assertPageSize(input.limit, DEFAULT_LIMIT)
    const rows = await this.#listed(input, listParams(input, limit + 1))
    const records = rows.slice(0, limit).map(instanceRecord)
    const last = records.at(-1)
    if (rows.length <= limit || last === undefined) return { records }
    return { records, cursor: encodeCursor([last.updatedAt, last.key]) }
  }

  #listed({ threadId, state }: SandboxInstanceListInput, params: SqlValue[]): Promise<readonly Row[]> {
    const { db } = this.#context
    if (threadId !== undefined) return db.rows(listThreadInstances, [...params, assertId('threadId', threadId)])
    return db.rows(state === undefined || state === 'ready' ? listInstances : listUnsettledInstances, params)
  }
}

function listParams({ provider, state, before, cursor }: SandboxInstanceListInput, limit: number): SqlValue[] {
  if (provider !== undefined) assertId('provider', provider)
  if (state !== undefined) assertInstanceState(state)
  if (before !== undefined) assertMs('before', before)
  const after = cursor === undefined ? [-1, ''] : decodeCursor(cursor, ['number', 'string'])
  return [provider ?? null, before ?? null, ...after, limit, state ?? null]
}

function instanceRecord(row: Row): SandboxInstanceRecord {
  const latestSnapshotId = maybeText(row, 'latest_snapshot_id')
  const latestRunId = maybeText(row, 'latest_run_id')
  const state = maybeText(row, 'state') as SandboxInstanceRecord['state']
  const labels = maybeText(row, 'labels')
  return {
    key: text(row, 'key'),
    provider: text(row, 'provider'),
    providerSandboxId: text(row, 'provider_sandbox_id'),
    ...(latestSnapshotId !== undefined && { latestSnapshotId }),
    threadId: text(row, 'thread_id'),
    ...(latestRunId !== undefined && { latestRunId }),
    updatedAt: number(row, 'updated_at'),
    ...(state !== undefined && { state }),
    ...(labels !== undefined && { labels: decodeJson(labels, 'labels') as Record<string, string> }),
  }
}
