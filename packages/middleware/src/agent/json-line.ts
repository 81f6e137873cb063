import type { StreamChunk } from '@tanstack/ai'
import type { AgentChunks } from './agent-chunks.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Name of the event for a line that a program printed between the lines of its format. */
export const AGENT_OUTPUT_EVENT = 'agent.output'

/** Hands JSON objects on; any other line becomes an event of its own, so that nothing printed is lost. */
export function jsonLine(
  chunks: AgentChunks,
  text: string,
  onObject: (object: JsonObject) => StreamChunk[],
): StreamChunk[] {
  if (text.trim() === '') return []
  const object = parseObject(text)
  return object === undefined ? chunks.custom(AGENT_OUTPUT_EVENT, { text }) : onObject(object)
}

function parseObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return objectOf(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf).filter((item) => item !== undefined) : []
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

/** Text as it is, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
