import type { StreamChunk } from '@tanstack/ai'

/** An event that carries one text, and how to read it back. */
export function textChunk(name: string): StreamChunk {
  return { type: 'CUSTOM', name, value: null } as unknown as StreamChunk
}

export function textOf(entry: { chunk: StreamChunk }): string {
  return (entry.chunk as unknown as { name: string }).name
}
