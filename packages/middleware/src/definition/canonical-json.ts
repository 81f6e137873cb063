import { createHash } from 'node:crypto'

/**
 * One text for one value: keys in code-unit order, undefined members left out. For plain data alone; anything JSON
 * cannot keep is a programmer's mistake and is not checked here.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** SHA-256 of the canonical text, 64 hex digits. */
export function canonicalHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}
