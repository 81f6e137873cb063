import { decodeJson, encodeExactJson } from '@holdfast/core'
import type { ModelMessage } from '@tanstack/ai'

/** A message as JSON text. Its one field that JSON does not have, `createdAt`, is written as ISO text. */
export function encodeMessage(message: ModelMessage): string {
  return encodeExactJson(message)
}

export function decodeMessage(text: string): ModelMessage {
  return reviveMessage(decodeJson(text, 'message'))
}

/** Gives a parsed message its `Date` back. */
export function reviveMessage(parsed: unknown): ModelMessage {
  const message = parsed as ModelMessage & { createdAt?: unknown }
  if (typeof message.createdAt === 'string') message.createdAt = new Date(message.createdAt)
  return message
}
