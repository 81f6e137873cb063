import { describe, expect, test } from 'vitest'
import { readArchive, writeArchive } from '../../../src/provider-kit/index.ts'
import type { ArchiveEntry, ReadArchiveEntry } from '../../../src/provider-kit/index.ts'

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const streamOf = (...chunks: Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array> => new Blob(chunks).stream()

function file(path: string, text: string): ArchiveEntry {
  const bytes = bytesOf(text)
  return { path, kind: 'file', size: bytes.length, mode: 0o755, body: streamOf(bytes) }
}

async function readAll(archive: ReadableStream<Uint8Array>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const entry of readArchive(archive)) {
    if (entry.kind !== 'file') all.push(entry)
    else all.push({ ...entry, body: await new Response(entry.body).text() })
  }
  return all
}

const LONG = `${'dir-ü/'.repeat(60)}name`
const NAMES = [
  'a',
  ' b ',
  'a\nb',
  `it's "q"`,
  'é',
  'e\u0301',
  '😀',
  'x'.repeat(100),
  'y'.repeat(255),
  LONG,
  '__proto__',
  '..a',
  'a\\b',
]

describe.each(['pax', 'gnu'] as const)('with long names in %s records', (longNames) => {
  test('every name, size, mode and target comes back exactly', async () => {
    const entries: ArchiveEntry[] = [
      ...NAMES.map((name) => file(name, `content of ${name}`)),
      { path: 'd', kind: 'dir', mode: 0o700 },
      { path: 'l', kind: 'symlink', target: `../${'t'.repeat(300)}` },
      file('empty', ''),
    ]
    const read = await readAll(writeArchive(entries, { longNames }))
    const names = NAMES.map((path) => ({
      path,
      kind: 'file',
      size: bytesOf(`content of ${path}`).length,
      mode: 0o755,
      body: `content of ${path}`,
    }))
    expect(read).toEqual([
      ...names,
      { path: 'd', kind: 'dir', mode: 0o700 },
      { path: 'l', kind: 'symlink', target: `../${'t'.repeat(300)}` },
      { path: 'empty', kind: 'file', size: 0, mode: 0o755, body: '' },
    ])
  })
})

test.each(['/etc/passwd', '../x', 'a/../../x', 'a//b', 'a/./b', ''])(
  'an entry named %j is INVALID_PATH',
  async (path) => {
    const archive = writeArchive([file(path, 'x')])
    await expect(readAll(archive)).rejects.toMatchObject({ code: 'INVALID_PATH' })
  },
)

test('an archive that ends early or was altered is CORRUPT_DATA, and is never taken for complete', async () => {
  const whole = new Uint8Array(
    await new Response(writeArchive([file('a', 'x'.repeat(2_000)), file('b', 'y')])).arrayBuffer(),
  )
  for (const length of [0, 100, 512, 700, 2_000, 3_000, whole.length - 1_024, whole.length - 512]) {
    await expect(readAll(streamOf(whole.slice(0, length)))).rejects.toMatchObject({ code: 'CORRUPT_DATA' })
  }
  const altered = whole.slice()
  altered[3] = 0x41
  await expect(readAll(streamOf(altered))).rejects.toMatchObject({ code: 'CORRUPT_DATA' })
})

test('a failure of the source passes through', async () => {
  const failing = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('network')) })
  await expect(readAll(failing)).rejects.toThrow('network')
})

test('a body of another size than it says fails the archive', async () => {
  const short = { ...file('a', 'abc'), size: 4 } as ArchiveEntry
  await expect(readAll(writeArchive([short]))).rejects.toThrow()
})

test('bodies that are not read are skipped, and a reader that leaves lets the source go', async () => {
  const paths: string[] = []
  for await (const entry of readArchive(writeArchive([file('a', 'x'.repeat(100_000)), file('b', 'y')])))
    paths.push(entry.path)
  expect(paths).toEqual(['a', 'b'])
  let isCancelled = false
  const inner = writeArchive([file('a', 'x'), file('b', 'y')]).getReader()
  const source = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await inner.read()
        if (!done) controller.enqueue(value)
      },
      cancel: () => void (isCancelled = true),
    },
    { highWaterMark: 0 },
  )
  const first: ReadArchiveEntry[] = []
  for await (const entry of readArchive(source)) {
    first.push(entry)
    break
  }
  expect(first).toHaveLength(1)
  expect(isCancelled).toBe(true)
})

test('a body that is left half read fails its late reader and does not hold the archive up', async () => {
  const late: Promise<unknown>[] = []
  const paths: string[] = []
  for await (const entry of readArchive(writeArchive([file('a', 'x'.repeat(500_000)), file('b', 'y')]))) {
    paths.push(entry.path)
    if (entry.path !== 'a' || entry.kind !== 'file') continue
    const reader = entry.body.getReader()
    await reader.read()
    const reading = Promise.resolve()
      .then(() => reader.read())
      .then(() => reader.read())
    // It may fail before the loop has ended, which is when it is looked at.
    reading.catch(() => undefined)
    late.push(reading)
  }
  expect(paths).toEqual(['a', 'b'])
  await expect(late[0]).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})

test('memory stays flat while a large body passes', async () => {
  const piece = new Uint8Array(64 * 1024)
  const pieces = 1_600
  let sent = 0
  let received = 0
  let mostAhead = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === pieces) return controller.close()
      sent += 1
      mostAhead = Math.max(mostAhead, sent * piece.length - received)
      controller.enqueue(piece)
    },
  })
  const entry: ArchiveEntry = { path: 'big', kind: 'file', size: pieces * piece.length, mode: 0o644, body }
  for await (const read of readArchive(writeArchive([entry]))) {
    if (read.kind === 'file') for await (const chunk of read.body) received += chunk.length
  }
  expect(received).toBe(pieces * piece.length)
  expect(mostAhead).toBeLessThan(16 * 1024 * 1024)
})
