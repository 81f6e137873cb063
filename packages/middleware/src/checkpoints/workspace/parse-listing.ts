import { isUtf8 } from 'node:buffer'
import { isCheckpointPath, ProviderError } from '@holdfast/core'
import { END_MARK, EXCLUDED_MARK, UNREADABLE_MARK } from './listing-script.ts'
import { KEPT_MODE_BITS, MAX_PATH_BYTES } from './workspace-entry.ts'
import type { UnusableEntry, WorkspaceEntry, WorkspaceListing } from './workspace-entry.ts'

interface RawEntry {
  kind: WorkspaceEntry['kind']
  mode: number
  size: number
  stamp: string
  changedAt: number
  /** Bytes as latin1. */
  path: string
  target: string
}

const GNU_RECORD = /^([a-zA-Z]) ([0-7]+) (\d+) (-?[\d.]+) (-?[\d.]+) (\d+)$/
const BUSYBOX_STAT = /\/([0-9a-f]+) (\d+) (\d+) (\d+) (\d+)\//y

const GNU_KINDS: { readonly [type: string]: WorkspaceEntry['kind'] } = { f: 'file', d: 'dir', l: 'symlink' }
const BUSYBOX_KINDS: { readonly [type: number]: WorkspaceEntry['kind'] } = {
  0o100000: 'file',
  0o040000: 'dir',
  0o120000: 'symlink',
}
const TYPE_BITS = 0o170000

/**
 * What a listing script printed. It comes from a sandbox, so nothing of it is believed to be well formed: a listing that
 * is cut or garbled is `SANDBOX_SNAPSHOT_INVALID_WORKSPACE`, a name that cannot be kept is told as unusable.
 */
export function parseListing(output: string): WorkspaceListing {
  const fields = Buffer.from(output, 'base64').toString('latin1').split('\0')
  const [, dialect, startedAt] = /^(gnu|busybox) (\d+)$/.exec(fields[0] ?? '') ?? []
  if (dialect === undefined || fields.at(-2) !== END_MARK || fields.at(-1) !== '') throw garbled()
  const content = fields.slice(1, -2)
  const listing = new ListingBuilder(Number(startedAt))
  if (dialect === 'gnu') readGnu(content, listing)
  else readBusybox(content, listing)
  return listing
}

class ListingBuilder implements WorkspaceListing {
  readonly entries = new Map<string, WorkspaceEntry>()
  readonly excluded: string[] = []
  readonly unusable: UnusableEntry[] = []
  readonly startedAt: number

  constructor(startedAt: number) {
    this.startedAt = startedAt
  }

  exclude(raw: string): void {
    const path = textOf(withoutDot(raw))
    if (path !== undefined) this.excluded.push(path)
  }

  refuse(raw: string, reason: string): void {
    this.unusable.push({ path: shown(withoutDot(raw)), reason })
  }

  add({ path: rawPath, target: rawTarget, mode, ...entry }: RawEntry): void {
    const bytes = withoutDot(rawPath)
    if (bytes.length > MAX_PATH_BYTES) return this.refuse(rawPath, 'its path is too long')
    const path = textOf(bytes)
    if (path === undefined) return this.refuse(rawPath, 'its name is not valid UTF-8')
    if (!isCheckpointPath(path) || this.entries.has(path)) throw garbled()
    const target = entry.kind === 'symlink' ? textOf(rawTarget) : undefined
    if (entry.kind === 'symlink' && !target) return this.refuse(rawPath, 'its target cannot be kept')
    const kept = { path, ...entry, mode: mode & KEPT_MODE_BITS }
    this.entries.set(path, target === undefined ? kept : { ...kept, target })
  }
}

function readGnu(fields: readonly string[], listing: ListingBuilder): void {
  if (fields.length % 3 !== 0) throw garbled()
  for (let at = 0; at < fields.length; at += 3) {
    const [head = '', path = '', target = ''] = fields.slice(at, at + 3)
    const [, type = '', mode = '', size, mtime, ctime, inode] = GNU_RECORD.exec(head) ?? []
    if (type === '') throw garbled()
    if (type === EXCLUDED_MARK) listing.exclude(path)
    else if (type === UNREADABLE_MARK) listing.refuse(path, 'it may not be read')
    else {
      listing.add({
        kind: GNU_KINDS[type] ?? 'other',
        mode: Number.parseInt(mode, 8),
        size: Number(size),
        stamp: `${size}/${mtime}/${ctime}/${inode}`,
        changedAt: Number(ctime),
        path,
        target,
      })
    }
  }
}

function readBusybox(fields: readonly string[], listing: ListingBuilder): void {
  const queue = fields[Symbol.iterator]()
  const next = (): string => {
    const { value, done } = queue.next()
    if (done === true) throw garbled()
    return value
  }
  const list = (): string[] => {
    const items: string[] = []
    for (let item = next(); item !== ''; item = next()) items.push(item)
    return items
  }
  for (let { value: tag, done } = queue.next(); done !== true; { value: tag, done } = queue.next()) {
    if (tag === 'P') for (const path of list()) listing.exclude(path)
    else if (tag === 'B') readBatch(list(), next(), pairs(list()), listing)
    else throw garbled()
  }
}

/** `stat` tells of the names in their order; one that vanished has no record. */
function readBatch(names: string[], stats: string, targets: Map<string, string>, listing: ListingBuilder): void {
  let at = 0
  for (const name of names) {
    BUSYBOX_STAT.lastIndex = at
    const match = BUSYBOX_STAT.exec(stats)
    if (match === null || !stats.startsWith(`${name}/\n`, BUSYBOX_STAT.lastIndex)) continue
    at = BUSYBOX_STAT.lastIndex + name.length + 2
    const [, mode = '', size = '', mtime = '', ctime = '', inode = ''] = match
    const bits = Number.parseInt(mode, 16)
    const kind = BUSYBOX_KINDS[bits & TYPE_BITS] ?? 'other'
    const stamp = `${size}/${mtime}/${ctime}/${inode}`
    const entry = { kind, mode: bits, size: Number(size), stamp, changedAt: Number(ctime), path: name }
    listing.add({ ...entry, target: targets.get(name) ?? '' })
  }
  if (at !== stats.length) throw garbled()
}

function pairs(items: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at + 1 < items.length; at += 2) found.set(items[at] as string, items[at + 1] as string)
  return found
}

function withoutDot(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path
}

function textOf(latin1: string): string | undefined {
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

function shown(latin1: string): string {
  const text = textOf(latin1)
  if (text !== undefined) return text.slice(0, 300)
  const hex = (character: string): string => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  return latin1.slice(0, 300).replaceAll(/[^\x20-\x7e]/g, hex)
}

function garbled(): ProviderError {
  const message = 'The sandbox gave a listing of its workspace that cannot be right. Nothing was saved or changed.'
  return new ProviderError('SANDBOX_SNAPSHOT_INVALID_WORKSPACE', message)
}
