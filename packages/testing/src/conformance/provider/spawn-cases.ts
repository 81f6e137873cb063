import assert from 'node:assert/strict'
import { rejectsWith } from '../stores/rejects-with.ts'
import { assertNothingTicks, endOf, firstTick, textOf, TICKING_COMMAND, TICKING_TREE } from './command-output.ts'
import { WIDE_TEXT } from './odd-text.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const outputCases: readonly ProviderCase[] = [
  sandboxCase(
    'spawn.result',
    'spawn gives both outputs apart, a pid and the exit code',
    async ({ process }) => {
      const spawned = await process.spawn('echo out; echo err >&2; exit 3')
      assert.ok(Number.isSafeInteger(spawned.pid) && spawned.pid > 0)
      assert.deepEqual(await endOf(spawned), { stdout: 'out\n', stderr: 'err\n', exitCode: 3 })
    },
    ['backgroundProcesses'],
  ),
  sandboxCase(
    'spawn.wait-again',
    'every wait gives the same exit code',
    async ({ process }) => {
      const spawned = await process.spawn('exit 9')
      assert.deepEqual(await Promise.all([spawned.wait(), spawned.wait()]), [9, 9])
      assert.equal(await spawned.wait(), 9)
    },
    ['backgroundProcesses'],
  ),
  sandboxCase(
    'spawn.unread-output',
    'wait settles though nobody reads the outputs, and they can be read after',
    async ({ process }) => {
      const spawned = await process.spawn('seq 1 30000; seq 1 30000 >&2')
      assert.equal(await spawned.wait(), 0)
      const [stdout, stderr] = await Promise.all([textOf(spawned.stdout), textOf(spawned.stderr)])
      assert.deepEqual([stdout.length, stderr.length], [168_894, 168_894])
    },
    ['backgroundProcesses'],
  ),
  sandboxCase(
    'spawn.whole-characters',
    'no character is ever split',
    async (sandbox) => {
      const text = `${WIDE_TEXT}\n`.repeat(8_000)
      await sandbox.fs.write('wide', text)
      const spawned = await sandbox.process.spawn('cat wide')
      let found = ''
      for await (const piece of spawned.stdout) {
        assert.ok(!piece.includes('\ufffd') && piece.isWellFormed(), 'a piece splits a character')
        found += piece
      }
      assert.ok(found === text, 'stdout is not the file')
    },
    ['backgroundProcesses', 'fs'],
  ),
  sandboxCase(
    'spawn.live-output',
    'output arrives while the process runs',
    async ({ process }) => {
      const spawned = await process.spawn('echo first; sleep 60')
      for await (const piece of spawned.stdout) {
        assert.equal(piece, 'first\n')
        break
      }
      await spawned.kill()
    },
    ['backgroundProcesses', 'liveOutput', 'killableProcesses'],
  ),
  sandboxCase(
    'spawn.cwd-missing',
    'a missing working directory is PROCESS_START_FAILED',
    async ({ process }) => {
      await rejectsWith('PROCESS_START_FAILED', () => process.spawn('true', { cwd: 'missing' }))
    },
    ['backgroundProcesses'],
  ),
  sandboxCase(
    'spawn.bad-arguments',
    'malformed arguments are refused',
    async ({ process }) => {
      await rejectsWith('INVALID_ARGUMENT', () => process.spawn('a\0b'))
      await rejectsWith('INVALID_PATH', () => process.spawn('true', { cwd: '/etc' }))
      await rejectsWith('INVALID_ENV_NAME', () => process.spawn('true', { env: { 'A;B': 'x' } }))
    },
    ['backgroundProcesses'],
  ),
]

const stdinCases: readonly ProviderCase[] = [
  sandboxCase(
    'spawn.stdin.writes',
    'what is written arrives, and `end` gives end of file',
    async ({ process }) => {
      const spawned = await process.spawn('cat; echo ended')
      await spawned.stdin.write('one\n')
      await spawned.stdin.write(`${WIDE_TEXT}\n`)
      await spawned.stdin.end()
      await spawned.stdin.end()
      assert.deepEqual(await endOf(spawned), { stdout: `one\n${WIDE_TEXT}\nended\n`, stderr: '', exitCode: 0 })
    },
    ['backgroundProcesses', 'writableStdin'],
  ),
  sandboxCase(
    'spawn.stdin.large',
    'a megabyte that is written at once arrives unchanged',
    async (sandbox) => {
      const text = Array.from({ length: 100_000 }, (_, line) => `${line} é\n`).join('')
      const spawned = await sandbox.process.spawn('cat > file')
      await spawned.stdin.write(text)
      await spawned.stdin.end()
      assert.equal(await spawned.wait(), 0)
      assert.ok((await sandbox.fs.read('file')) === text, 'the file is not what was written')
    },
    ['backgroundProcesses', 'writableStdin', 'fs'],
  ),
  sandboxCase(
    'spawn.stdin.dialogue',
    'a process answers while its input stays open',
    async ({ process }) => {
      const spawned = await process.spawn('while read line; do echo "got $line"; done')
      const answers = spawned.stdout[Symbol.asyncIterator]()
      for (const line of ['a', 'b']) {
        await spawned.stdin.write(`${line}\n`)
        assert.equal((await answers.next()).value, `got ${line}\n`)
      }
      await spawned.stdin.end()
      assert.equal(await spawned.wait(), 0)
    },
    ['backgroundProcesses', 'writableStdin', 'liveOutput'],
  ),
  sandboxCase(
    'spawn.stdin.after-end',
    'write after `end` is PROCESS_STDIN_CLOSED',
    async ({ process }) => {
      const spawned = await process.spawn('cat')
      await spawned.stdin.end()
      await rejectsWith('PROCESS_STDIN_CLOSED', () => spawned.stdin.write('late'))
      assert.equal(await spawned.wait(), 0)
    },
    ['backgroundProcesses', 'writableStdin'],
  ),
  sandboxCase(
    'spawn.stdin.after-exit',
    'write after the process ended is PROCESS_STDIN_CLOSED',
    async ({ process }) => {
      const spawned = await process.spawn('true')
      await spawned.wait()
      await rejectsWith('PROCESS_STDIN_CLOSED', () => spawned.stdin.write('late'))
      await spawned.stdin.end()
    },
    ['backgroundProcesses', 'writableStdin'],
  ),
]

const KILLED_BY: Readonly<Record<string, number>> = { SIGTERM: 143, SIGKILL: 137, SIGINT: 130 }

const killCases: readonly ProviderCase[] = [
  sandboxCase(
    'kill.ends-the-process',
    'kill ends the process, and may be repeated',
    async (sandbox) => {
      const spawned = await sandbox.process.spawn(TICKING_COMMAND)
      await firstTick(sandbox)
      await spawned.kill()
      await assertNothingTicks(sandbox)
      await spawned.kill()
      assert.equal(await spawned.wait(), 143)
    },
    ['backgroundProcesses', 'killableProcesses', 'fs', 'liveOutput'],
  ),
  sandboxCase(
    'kill.stops-a-sleeper',
    'kill does not wait for the command, and its outputs end',
    async ({ process }) => {
      const spawned = await process.spawn('sleep 60')
      await spawned.kill()
      assert.deepEqual(await endOf(spawned), { stdout: '', stderr: '', exitCode: 143 })
    },
    ['backgroundProcesses', 'killableProcesses'],
  ),
  sandboxCase(
    'kill.ends-the-tree',
    'kill ends all descendants, those in another session too',
    async (sandbox) => {
      const spawned = await sandbox.process.spawn(TICKING_TREE)
      await firstTick(sandbox)
      await spawned.kill()
      await assertNothingTicks(sandbox)
    },
    ['backgroundProcesses', 'killableProcesses', 'jobs', 'fs'],
  ),
  sandboxCase(
    'kill.after-the-leader',
    'kill ends children that outlived the process',
    async (sandbox) => {
      const spawned = await sandbox.process.spawn(`( ${TICKING_COMMAND} ) >/dev/null 2>&1 & echo started`)
      assert.equal(await spawned.wait(), 0)
      await firstTick(sandbox)
      await spawned.kill()
      await assertNothingTicks(sandbox)
      assert.equal(await spawned.wait(), 0)
    },
    ['backgroundProcesses', 'killableProcesses', 'jobs', 'fs'],
  ),
  sandboxCase(
    'kill.stubborn',
    'kill ends a process that ignores the signal',
    async (sandbox) => {
      const spawned = await sandbox.process.spawn(`trap '' TERM; ${TICKING_COMMAND}`)
      await firstTick(sandbox)
      await spawned.kill()
      await assertNothingTicks(sandbox)
      assert.equal(await spawned.wait(), 137)
    },
    ['backgroundProcesses', 'killableProcesses', 'signals', 'fs'],
  ),
  sandboxCase(
    'kill.signal',
    'kill sends the given signal',
    async ({ process }) => {
      for (const [signal, exitCode] of Object.entries(KILLED_BY)) {
        const spawned = await process.spawn('sleep 60')
        await spawned.kill(signal as NodeJS.Signals)
        assert.equal(await spawned.wait(), exitCode, signal)
      }
    },
    ['backgroundProcesses', 'killableProcesses', 'signals'],
  ),
  sandboxCase(
    'kill.leaves-others',
    'kill ends nothing else',
    async (sandbox) => {
      const kept = await sandbox.process.spawn('sleep 1; echo kept')
      const killed = await sandbox.process.spawn('sleep 60')
      await killed.kill()
      assert.deepEqual(await endOf(kept), { stdout: 'kept\n', stderr: '', exitCode: 0 })
    },
    ['backgroundProcesses', 'killableProcesses'],
  ),
  sandboxCase(
    'kill.abort',
    'an abort ends the process tree, and wait rejects with the reason',
    async (sandbox) => {
      const controller = new AbortController()
      const reason = new Error('no longer wanted')
      const spawned = await sandbox.process.spawn(TICKING_COMMAND, { signal: controller.signal })
      await firstTick(sandbox)
      controller.abort(reason)
      await assert.rejects(spawned.wait(), (error) => error === reason)
      await assertNothingTicks(sandbox)
    },
    ['backgroundProcesses', 'killableProcesses', 'fs'],
  ),
  sandboxCase(
    'spawn.abort-before',
    'a signal that is aborted before starts nothing',
    async (sandbox) => {
      const reason = new Error('not wanted')
      const spawning = sandbox.process.spawn('touch ran', { signal: AbortSignal.abort(reason) })
      await assert.rejects(spawning, (error) => error === reason)
      assert.equal(await sandbox.fs.exists('ran'), false)
    },
    ['backgroundProcesses', 'fs'],
  ),
  sandboxCase(
    'kill.destroy',
    'destroy ends every process of the sandbox',
    async (sandbox) => {
      const spawned = await sandbox.process.spawn('sleep 60')
      await sandbox.destroy()
      const code = await spawned.wait().catch(() => 'rejected')
      assert.notEqual(code, 0)
    },
    ['backgroundProcesses', 'killableProcesses'],
  ),
]

export const spawnCases: readonly ProviderCase[] = [...outputCases, ...stdinCases, ...killCases]
