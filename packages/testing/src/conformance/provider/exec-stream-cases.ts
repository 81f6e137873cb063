import assert from 'node:assert/strict'
import type { SandboxHandle } from '@holdfast/core'
import { assertSameBytes } from '../same-bytes.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { outputOf } from './command-output.ts'
import { ALL_BYTES, WIDE_TEXT } from './odd-text.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const stdinCases: readonly ProviderCase[] = [
  sandboxCase(
    'exec.stdin.empty',
    'without stdin a program that reads it gets end of file at once',
    async (sandbox) => {
      assert.equal(await outputOf(sandbox, 'cat'), '')
      assert.equal(await outputOf(sandbox, 'read x; echo "[$x] $?"'), '[] 1\n')
      assert.equal((await outputOf(sandbox, 'wc -c')).trim(), '0')
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.stdin.text',
    'stdin passes text unchanged',
    async ({ process }) => {
      for (const stdin of ['one\ntwo\n', 'no newline', WIDE_TEXT, '', '$(touch pwned) `x` \\ \' "']) {
        assert.equal((await process.exec('cat', { stdin })).stdout, stdin)
      }
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.stdin.bytes',
    'stdin passes bytes unchanged',
    async (sandbox) => {
      await sandbox.process.exec('cat > file', { stdin: ALL_BYTES })
      assertSameBytes(await sandbox.fs.readBytes('file'), ALL_BYTES)
    },
    ['exec', 'fs'],
  ),
  sandboxCase(
    'exec.stdin.large',
    'five megabytes of stdin arrive unchanged',
    async (sandbox) => {
      const stdin = Uint8Array.from({ length: 5_000_000 }, (_, at) => (at * 2_654_435_761) >>> 13)
      assert.equal((await sandbox.process.exec('cat > file', { stdin })).exitCode, 0)
      assertSameBytes(await sandbox.fs.readBytes('file'), stdin)
    },
    ['exec', 'fs'],
  ),
  sandboxCase(
    'exec.stdin.unread',
    'a command that does not read its input ends as usual',
    async ({ process }) => {
      const { exitCode, stdout } = await process.exec('echo out; exit 3', { stdin: 'x'.repeat(1_000_000) })
      assert.deepEqual([exitCode, stdout], [3, 'out\n'])
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.stdin.refused',
    'stdin that is neither text nor bytes is refused',
    async ({ process }) => {
      await rejectsWith('INVALID_ARGUMENT', () => process.exec('cat', { stdin: 7 as unknown as string }))
    },
    ['exec'],
  ),
]

/** Long, so that its characters are cut at many places on the way. */
const WIDE_LINES = `${WIDE_TEXT}\n`.repeat(8_000)

async function writeWide(sandbox: SandboxHandle): Promise<void> {
  await sandbox.fs.write('wide', WIDE_LINES)
}

const textCases: readonly ProviderCase[] = [
  sandboxCase(
    'exec.output.large',
    'large outputs arrive whole, each by itself',
    async ({ process }) => {
      const { stdout, stderr } = await process.exec('seq 1 30000; seq 30001 60000 >&2')
      const lines = (from: number): string => Array.from({ length: 30_000 }, (_, index) => `${from + index}\n`).join('')
      assert.ok(stdout === lines(1), 'stdout is not what was printed')
      assert.ok(stderr === lines(30_001), 'stderr is not what was printed')
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.output.whole-characters',
    'no character is ever split',
    async (sandbox) => {
      await writeWide(sandbox)
      const pieces: string[] = []
      const { stdout } = await sandbox.process.exec('cat wide', { onStdout: (text) => pieces.push(text) })
      assert.ok(stdout === WIDE_LINES, 'stdout is not the file')
      assert.ok(pieces.join('') === WIDE_LINES, 'the pieces are not the file')
      assert.ok(pieces.every((piece) => piece !== '' && !piece.includes('\ufffd') && piece.isWellFormed()))
    },
    ['exec', 'fs'],
  ),
  sandboxCase(
    'exec.output.cut-anywhere',
    'a character that is printed in two parts arrives whole',
    async (sandbox) => {
      await sandbox.fs.write('character', '😀')
      for (const cut of [1, 2, 3]) {
        const pieces: string[] = []
        const command = `head -c ${cut} character; head -c ${cut} character >&2; sleep 0.1; tail -c +${cut + 1} character; tail -c +${cut + 1} character >&2`
        const { stdout, stderr } = await sandbox.process.exec(command, { onStdout: (text) => pieces.push(text) })
        assert.deepEqual([stdout, stderr, pieces.join('')], ['😀', '😀', '😀'], `cut after ${cut} bytes`)
      }
    },
    ['exec', 'fs', 'bytesOutput', 'liveOutput'],
  ),
  sandboxCase(
    'exec.output.invalid-bytes',
    'bytes that are no UTF-8 become replacement characters',
    async (sandbox) => {
      await sandbox.fs.write('bytes', Uint8Array.from([0x61, 0xff, 0x62, 0xe6, 0xbc]))
      const { stdout } = await sandbox.process.exec('cat bytes')
      assert.match(stdout, /^a\ufffdb\ufffd{1,2}$/)
    },
    ['exec', 'fs', 'bytesOutput'],
  ),
  sandboxCase(
    'exec.output.callbacks',
    'the callbacks get all of their own output',
    async ({ process }) => {
      const out: string[] = []
      const err: string[] = []
      const result = await process.exec('for i in 1 2 3; do echo out $i; echo err $i >&2; done', {
        onStdout: (text) => out.push(text),
        onStderr: (text) => err.push(text),
      })
      assert.deepEqual([out.join(''), err.join('')], [result.stdout, result.stderr])
      assert.equal(result.stdout, 'out 1\nout 2\nout 3\n')
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.output.live',
    'output arrives while the command runs',
    async ({ process }) => {
      const seen = new AbortController()
      const reason = new Error('seen')
      const running = process.exec('echo first; sleep 30', { signal: seen.signal, onStdout: () => seen.abort(reason) })
      await assert.rejects(running, (error) => error === reason)
    },
    ['exec', 'liveOutput', 'killableProcesses'],
  ),
]

const limitCases: readonly ProviderCase[] = [
  sandboxCase(
    'exec.limit.drops',
    'what exceeds maxOutputBytes is read and dropped, of each output',
    async ({ process }) => {
      const result = await process.exec('seq 1 20000; seq 1 20000 >&2; exit 5', { maxOutputBytes: 1_000 })
      const kept = Array.from({ length: 1_000 }, (_, index) => `${index + 1}\n`)
        .join('')
        .slice(0, 1_000)
      assert.deepEqual(result, { stdout: kept, stderr: kept, exitCode: 5, truncated: true })
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.limit.each',
    'one output over its limit leaves the other alone',
    async ({ process }) => {
      const { stdout, stderr, truncated } = await process.exec('echo 123456789; echo 12 >&2', { maxOutputBytes: 4 })
      assert.deepEqual([stdout, stderr, truncated], ['1234', '12\n', true])
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.limit.exact',
    'an output of exactly the limit is not truncated',
    async ({ process }) => {
      const { stdout, truncated } = await process.exec('printf 1234', { maxOutputBytes: 4 })
      assert.deepEqual([stdout, truncated ?? false], ['1234', false])
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.limit.bytes',
    'the limit counts bytes and cuts no character',
    async (sandbox) => {
      await writeWide(sandbox)
      for (const maxOutputBytes of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 999]) {
        const { stdout, truncated } = await sandbox.process.exec('cat wide', { maxOutputBytes })
        assert.ok(WIDE_LINES.startsWith(stdout), `${maxOutputBytes}: not a beginning of the output`)
        const dropped = maxOutputBytes - Buffer.byteLength(stdout)
        assert.ok(dropped >= 0 && dropped < 4, `${maxOutputBytes}: kept ${Buffer.byteLength(stdout)} bytes`)
        assert.equal(truncated, true)
      }
    },
    ['exec', 'fs'],
  ),
  sandboxCase(
    'exec.limit.none-kept',
    'a limit of 0 keeps nothing',
    async ({ process }) => {
      const { stdout, exitCode } = await process.exec('echo x; exit 2', { maxOutputBytes: 0 })
      assert.deepEqual([stdout, exitCode], ['', 2])
    },
    ['exec'],
  ),
]

export const execStreamCases: readonly ProviderCase[] = [...stdinCases, ...textCases, ...limitCases]
