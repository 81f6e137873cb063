import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { ChunkRedactor } from '../../../src/secrets/chunk-redactor.ts'
import { REDACTED, SecretRedactor } from '../../../src/secrets/secret-redactor.ts'

const SECRET = 'sk-live-9f8e7d6c5b4a'
const text = (delta: string, messageId = 'm'): StreamChunk =>
  ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta, timestamp: 1 }) as StreamChunk
const end = (messageId = 'm'): StreamChunk => ({ type: 'TEXT_MESSAGE_END', messageId, timestamp: 1 }) as StreamChunk
const deltas = (chunks: StreamChunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'TEXT_MESSAGE_CONTENT' ? chunk.delta : '')).join('')

describe('ChunkRedactor', () => {
  for (let cut = 0; cut <= SECRET.length; cut += 1) {
    it(`shows no part of a secret that is cut after ${cut} characters, other events in between`, () => {
      const redactor = new ChunkRedactor(new SecretRedactor([SECRET]))
      const custom = { type: 'CUSTOM', name: 'x', value: { note: SECRET }, timestamp: 1 } as StreamChunk
      const pieces = [text(`key ${SECRET.slice(0, cut)}`), custom, text(`${SECRET.slice(cut)} end`), end()]
      const shown = pieces.flatMap((piece) => redactor.push(piece))
      expect(deltas(shown)).toBe(`key ${REDACTED} end`)
      expect(JSON.stringify(shown)).not.toContain(SECRET)
      expect(shown.at(-1)?.type).toBe('TEXT_MESSAGE_END')
    })
  }

  it('gives back everything when nothing was secret, and all of it before the end', () => {
    const redactor = new ChunkRedactor(new SecretRedactor([SECRET]))
    const shown = [text('sk-li'), text('other', 'n'), text('fe'), end('n'), end()].flatMap((piece) =>
      redactor.push(piece),
    )
    expect(deltas(shown.filter((chunk) => Reflect.get(chunk, 'messageId') === 'm'))).toBe('sk-life')
    expect(shown.at(-1)).toEqual(end())
    expect(redactor.flush()).toEqual([])
  })

  it('passes chunks on unchanged when there is no secret', () => {
    const chunk = text('anything')
    expect(new ChunkRedactor(new SecretRedactor([])).push(chunk)).toEqual([chunk])
  })
})
