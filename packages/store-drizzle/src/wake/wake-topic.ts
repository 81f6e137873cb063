import { createHash } from 'node:crypto'

/** `log`: a run's events. `cancel`: a run's cancel request. `lock`: a lock that may be free. */
export type WakeKind = 'log' | 'cancel' | 'lock'

export interface WakeTopic {
  readonly kind: WakeKind
  readonly id: string
}

/** Short and of one length, so that many fit into one notification. Two topics that collide wake once too often. */
export function topicToken({ kind, id }: WakeTopic): string {
  return createHash('sha256').update(`${kind} ${id}`).digest('base64url').slice(0, 16)
}

/** The channel of one schema: an app's own channels are never touched. */
export function wakeChannel(schema: string): string {
  return `holdfast_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`
}

/** `sender` is left out by a statement that notifies by itself. */
export function encodeWakes(tokens: readonly string[], sender = ''): string {
  return `${sender}:${tokens.join(',')}`
}

export function decodeWakes(payload: string): { sender: string; tokens: string[] } {
  const end = payload.indexOf(':')
  return { sender: payload.slice(0, end), tokens: payload.slice(end + 1).split(',') }
}
