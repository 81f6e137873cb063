import assert from 'node:assert/strict'
import type { SandboxHandle } from '@holdfast/core'
import { assertSameBytes } from '../same-bytes.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { outputOf } from './command-output.ts'
import { ALL_BYTES, WIDE_TEXT } from './odd-text.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const TEXTS: Readonly<Record<string, string>> = {
  empty: '',
  'a byte order mark': '\ufeffmarked',
  'line ends of both kinds': 'a\r\nb\nc\rd',
  'no newline at the end': 'no newline',
  'NUL characters': 'a\0b',
  'wide characters': WIDE_TEXT,
}

/** Larger than any buffer on the way. */
const LARGE_BYTES = 3_000_000

function largeContent(): Uint8Array {
  return Uint8Array.from({ length: LARGE_BYTES }, (_, index) => (index * 31 + (index >> 8)) & 0xff)
}

async function assertBytes(sandbox: SandboxHandle, path: string, expected: Uint8Array): Promise<void> {
  assertSameBytes(await sandbox.fs.readBytes(path), expected, path)
}

const readCases: readonly ProviderCase[] = [
  sandboxCase(
    'fs.read.text',
    'read gives the text that write was given',
    async ({ fs }) => {
      for (const [what, text] of Object.entries(TEXTS)) {
        await fs.write('file', text)
        assert.equal(await fs.read('file'), text, what)
      }
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.read.bytes',
    'readBytes gives the exact bytes',
    async (sandbox) => {
      const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff])
      for (const bytes of [ALL_BYTES, png, new Uint8Array(), largeContent()]) {
        await sandbox.fs.write('file', bytes)
        await assertBytes(sandbox, 'file', bytes)
      }
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.read.invalid-text',
    'read of bytes that are no UTF-8 gives replacement characters',
    async ({ fs }) => {
      await fs.write('file', Uint8Array.from([0x61, 0xff, 0x62]))
      assert.equal(await fs.read('file'), 'a\ufffdb')
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.read.a-view',
    'write takes a view of a larger buffer as what it shows',
    async (sandbox) => {
      await sandbox.fs.write('file', ALL_BYTES.subarray(10, 20))
      await assertBytes(sandbox, 'file', ALL_BYTES.slice(10, 20))
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.read.of-commands',
    'what a command wrote is read, and the other way round',
    async (sandbox) => {
      await outputOf(sandbox, 'echo from a command > a')
      assert.equal(await sandbox.fs.read('a'), 'from a command\n')
      await sandbox.fs.write('b', 'from a call\n')
      assert.equal(await outputOf(sandbox, 'cat b'), 'from a call\n')
    },
    ['fs', 'exec'],
  ),
  sandboxCase(
    'fs.read.missing',
    'reading what does not exist is FILE_NOT_FOUND',
    async ({ fs }) => {
      await rejectsWith('FILE_NOT_FOUND', () => fs.read('nothing'))
      await rejectsWith('FILE_NOT_FOUND', () => fs.readBytes('no/such/parent'))
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.read.directory',
    'reading a directory is FILE_CONFLICT',
    async ({ fs }) => {
      await fs.mkdir('dir')
      await rejectsWith('FILE_CONFLICT', () => fs.read('dir'))
      await rejectsWith('FILE_CONFLICT', () => fs.readBytes('dir'))
    },
    ['fs'],
  ),
]

const writeCases: readonly ProviderCase[] = [
  sandboxCase(
    'fs.write.parents',
    'write makes missing parent directories',
    async ({ fs }) => {
      await fs.write('a/b/c', 'deep')
      assert.equal(await fs.read('a/b/c'), 'deep')
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.write.replaces',
    'write replaces the whole content',
    async ({ fs }) => {
      await fs.write('file', 'a long content')
      await fs.write('file', 'short')
      await fs.write('file', 'short')
      assert.equal(await fs.read('file'), 'short')
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.write.keeps-mode',
    'write keeps the mode of an existing file',
    async (sandbox) => {
      for (const mode of ['755', '600', '444', '640']) {
        await sandbox.fs.write('file', 'old')
        await outputOf(sandbox, `chmod ${mode} file`)
        await sandbox.fs.write('file', 'new')
        assert.equal(await outputOf(sandbox, 'stat -c %a file; cat file'), `${mode}\nnew`)
        await sandbox.fs.remove('file')
      }
    },
    ['fs', 'exec'],
  ),
  sandboxCase(
    'fs.write.is-atomic',
    'a reader sees the old or the new content, never a part',
    async ({ fs }) => {
      const contents = ['a', 'b'].map((letter) => letter.repeat(400_000))
      await fs.write('file', contents[0] as string)
      let isWriting = true
      const read = async (): Promise<number> => {
        let seen = 0
        while (isWriting) {
          assert.ok(contents.includes(await fs.read('file')), 'a reader saw a part of a file')
          seen += 1
        }
        return seen
      }
      const write = async (): Promise<void> => {
        for (let round = 0; round < 12; round += 1) await fs.write('file', contents[round % 2] as string)
      }
      const [seen] = await Promise.all([read(), write().finally(() => (isWriting = false))])
      assert.ok(seen > 0, 'nothing was read')
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.write.leaves-nothing',
    'write leaves no other file behind, also when it fails',
    async ({ fs }) => {
      await fs.write('file', 'x')
      await fs.mkdir('dir')
      await rejectsWith('FILE_CONFLICT', () => fs.write('dir', 'x'))
      await fs.write('file', 'y')
      assert.deepEqual((await fs.list('.')).map(({ name }) => name).sort(), ['dir', 'file'])
      assert.deepEqual(await fs.list('dir'), [])
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.write.conflict',
    'write onto a directory or below a file is FILE_CONFLICT',
    async ({ fs }) => {
      await fs.mkdir('dir')
      await fs.write('file', 'x')
      await rejectsWith('FILE_CONFLICT', () => fs.write('dir', 'x'))
      await rejectsWith('FILE_CONFLICT', () => fs.write('file/below', 'x'))
      assert.equal(await fs.read('file'), 'x')
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.write.bad-content',
    'write of something else than text or bytes is refused',
    async ({ fs }) => {
      await rejectsWith('INVALID_ARGUMENT', () => fs.write('file', 42 as unknown as string))
      assert.equal(await fs.exists('file'), false)
    },
    ['fs'],
  ),
]

export const fsContentCases: readonly ProviderCase[] = [...readCases, ...writeCases]
