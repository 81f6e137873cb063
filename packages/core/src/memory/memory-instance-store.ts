import { assertId, assertMs } from '../identifier.ts'
import { assertPageSize, decodeCursor, encodeCursor } from '../page.ts'
import { assertInstanceRecord, assertInstanceState } from '../sandbox/instance-check.ts'
import type {
  SandboxInstanceListInput,
  SandboxInstanceRecord,
  SandboxInstanceStore,
} from '../sandbox/sandbox-instance-store.ts'
import { compareUtf8 } from '../utf8-order.ts'
import { copyRecord } from './memory-copy.ts'
import { MemoryState } from './memory-state.ts'

const DEFAULT_PAGE_SIZE = 100

/** Which sandbox belongs to a key, in memory. */
export class MemoryInstanceStore implements Required<SandboxInstanceStore> {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async get(key: string): Promise<SandboxInstanceRecord | null> {
    this.#state.assertOpen()
    const record = this.#state.instances.get(assertId('key', key))
    return record === undefined ? null : copyRecord(record)
  }

  async upsert(record: SandboxInstanceRecord): Promise<void> {
    this.#state.assertOpen()
    assertInstanceRecord(record)
    this.#state.instances.set(record.key, copyRecord(record))
  }

  async delete(key: string): Promise<void> {
    this.#state.assertOpen()
    this.#state.instances.delete(assertId('key', key))
  }

  async list(input: SandboxInstanceListInput): Promise<{ records: SandboxInstanceRecord[]; cursor?: string }> {
    this.#state.assertOpen()
    const limit = assertPageSize(input.limit, DEFAULT_PAGE_SIZE)
    const matches = [...this.#state.instances.values()].filter(filterOf(input)).sort(compareInstances)
    const records = matches.slice(0, limit)
    const last = records.at(-1)
    if (last === undefined || matches.length <= limit) return { records: records.map(copyRecord) }
    return { records: records.map(copyRecord), cursor: encodeCursor([last.updatedAt, last.key]) }
  }
}

type Position = Pick<SandboxInstanceRecord, 'updatedAt' | 'key'>

function compareInstances(a: Position, b: Position): number {
  return a.updatedAt - b.updatedAt || compareUtf8(a.key, b.key)
}

function filterOf(input: SandboxInstanceListInput): (record: SandboxInstanceRecord) => boolean {
  const { provider, threadId, state, cursor } = input
  if (provider !== undefined) assertId('provider', provider)
  if (threadId !== undefined) assertId('threadId', threadId)
  if (state !== undefined) assertInstanceState(state)
  const before = input.before === undefined ? Number.POSITIVE_INFINITY : assertMs('before', input.before)
  const after = cursor === undefined ? undefined : positionOf(cursor)
  return (record) =>
    (provider === undefined || record.provider === provider) &&
    (threadId === undefined || record.threadId === threadId) &&
    (state === undefined || (record.state ?? 'ready') === state) &&
    record.updatedAt < before &&
    (after === undefined || compareInstances(record, after) > 0)
}

function positionOf(cursor: string): Position {
  const [updatedAt, key] = decodeCursor(cursor, ['number', 'string']) as [number, string]
  return { updatedAt, key }
}
