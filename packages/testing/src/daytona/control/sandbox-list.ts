import type { Exchange } from '../http/exchange.ts'
import { apiError } from '../http/wire-error.ts'
import type { SandboxRecord } from './sandbox-record.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 200

export interface SandboxPage {
  records: SandboxRecord[]
  nextCursor: string | null
}

/** One page of a listing, by the query of the request: newest first unless asked otherwise. */
export function listPage(exchange: Exchange, records: readonly SandboxRecord[]): SandboxPage {
  const limit = pageLimit(exchange.query('limit'))
  const start = cursorStart(exchange.query('cursor'))
  const sorted = sortRecords(records.filter(matcher(exchange)), exchange.query('sort'), exchange.query('order'))
  const end = start + limit
  const nextCursor = end < sorted.length ? Buffer.from(String(end)).toString('base64url') : null
  return { records: sorted.slice(start, end), nextCursor }
}

function matcher(exchange: Exchange): (record: SandboxRecord) => boolean {
  const labels = queryLabels(exchange.query('labels'))
  const states = exchange.url.searchParams.getAll('states')
  const snapshots = exchange.url.searchParams.getAll('snapshots')
  const targets = exchange.url.searchParams.getAll('regionIds')
  const id = exchange.query('id')
  const name = exchange.query('name')
  return (record) =>
    (id === undefined || record.id.startsWith(id)) &&
    (name === undefined || record.name.startsWith(name)) &&
    (states.length === 0 || states.includes(record.state)) &&
    (snapshots.length === 0 || snapshots.includes(record.snapshot ?? '')) &&
    (targets.length === 0 || targets.includes(record.target)) &&
    inTime(record.createdAt, exchange, 'createdAt') &&
    inTime(record.lastActivityAt, exchange, 'lastEvent') &&
    Object.entries(labels).every(([key, value]) => record.labels[key] === value)
}

function inTime(at: number, exchange: Exchange, prefix: string): boolean {
  const after = exchange.query(`${prefix}After`)
  const before = exchange.query(`${prefix}Before`)
  return (after === undefined || at > Date.parse(after)) && (before === undefined || at < Date.parse(before))
}

function queryLabels(text: string | undefined): Record<string, string> {
  if (text === undefined) return {}
  try {
    return JSON.parse(text) as Record<string, string>
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw apiError(400, 'labels must be a valid JSON object')
  }
}

function pageLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw apiError(400, `limit must be between 1 and ${MAX_LIMIT}`)
  return limit
}

function cursorStart(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const start = Number(Buffer.from(cursor, 'base64url').toString())
  if (!Number.isInteger(start)) throw apiError(400, 'Invalid cursor')
  return start
}

function sortRecords(records: SandboxRecord[], sort = 'createdAt', order = 'desc'): SandboxRecord[] {
  const key = (record: SandboxRecord): string | number => {
    if (sort === 'name') return record.name
    return sort === 'lastActivityAt' || sort === 'lastEventAt' ? record.lastActivityAt : record.createdAt
  }
  const direction = order === 'asc' ? 1 : -1
  return records.toSorted((a, b) => (key(a) < key(b) ? -direction : key(a) > key(b) ? direction : 0))
}
