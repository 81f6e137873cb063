import assert from 'node:assert/strict'
import { rejectsWith } from '../stores/rejects-with.ts'
import { assertNothingTicks, firstTick, TICKING_COMMAND, TICKING_TREE } from './command-output.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

/** Generous for a slow machine or network; far below what the commands would take. */
const SOON_MS = 8_000

async function assertSoon<T>(work: Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work
  assert.ok(performance.now() - startedAt < SOON_MS, 'it took as long as the command')
  return result
}

const timeoutCases: readonly ProviderCase[] = [
  sandboxCase(
    'exec.timeout.result',
    'a command that overruns has exit code 124, timedOut and what it printed',
    async ({ process }) => {
      const result = await assertSoon(process.exec('sleep 60; echo never', { timeoutMs: 300 }))
      assert.deepEqual(result, { stdout: '', stderr: '', exitCode: 124, timedOut: true })
    },
    ['exec', 'killableProcesses'],
  ),
  sandboxCase(
    'exec.timeout.partial-output',
    'what an overrunning command had printed is kept',
    async ({ process }) => {
      const { stdout, stderr } = await assertSoon(process.exec('echo out; echo err >&2; sleep 60', { timeoutMs: 500 }))
      assert.deepEqual([stdout, stderr], ['out\n', 'err\n'])
    },
    ['exec', 'killableProcesses', 'liveOutput'],
  ),
  sandboxCase(
    'exec.timeout.ends-the-command',
    'a timeout ends the command',
    async (sandbox) => {
      const { timedOut } = await assertSoon(sandbox.process.exec(TICKING_COMMAND, { timeoutMs: 400 }))
      assert.equal(timedOut, true)
      await assertNothingTicks(sandbox)
    },
    ['exec', 'fs', 'killableProcesses'],
  ),
  sandboxCase(
    'exec.timeout.ends-the-tree',
    'a timeout ends the whole process tree',
    async (sandbox) => {
      const { timedOut } = await assertSoon(sandbox.process.exec(TICKING_TREE, { timeoutMs: 400 }))
      assert.equal(timedOut, true)
      await assertNothingTicks(sandbox)
    },
    ['exec', 'fs', 'killableProcesses', 'jobs'],
  ),
  sandboxCase(
    'exec.timeout.stubborn',
    'a timeout ends a command that ignores SIGTERM',
    async (sandbox) => {
      const command = `trap '' TERM HUP INT; ${TICKING_COMMAND}`
      const { exitCode } = await assertSoon(sandbox.process.exec(command, { timeoutMs: 300 }))
      assert.equal(exitCode, 124)
      await assertNothingTicks(sandbox)
    },
    ['exec', 'fs', 'killableProcesses', 'signals'],
  ),
  sandboxCase(
    'exec.timeout.in-time',
    'a command that ends in time is not timed out',
    async ({ process }) => {
      const result = await process.exec('echo x; exit 124', { timeoutMs: 30_000 })
      assert.deepEqual(result, { stdout: 'x\n', stderr: '', exitCode: 124 })
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.timeout.refused',
    'a timeout that is no positive number is refused',
    async ({ process }) => {
      for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
        await rejectsWith('INVALID_ARGUMENT', () => process.exec('true', { timeoutMs }), String(timeoutMs))
      }
    },
    ['exec'],
  ),
]

const abortCases: readonly ProviderCase[] = [
  sandboxCase(
    'exec.abort.before',
    'a signal that is aborted before rejects with its reason and runs nothing',
    async (sandbox) => {
      const reason = new Error('not wanted')
      const running = sandbox.process.exec('touch ran', { signal: AbortSignal.abort(reason) })
      await assert.rejects(running, (error) => error === reason)
      assert.equal(await sandbox.fs.exists('ran'), false)
    },
    ['exec', 'fs'],
  ),
  sandboxCase(
    'exec.abort.during',
    'an abort ends the command and rejects with the reason',
    async (sandbox) => {
      const controller = new AbortController()
      const reason = new Error('no longer wanted')
      const running = sandbox.process.exec(TICKING_COMMAND, { signal: controller.signal, timeoutMs: 60_000 })
      const rejected = assert.rejects(running, (error) => error === reason)
      await firstTick(sandbox)
      controller.abort(reason)
      await assertSoon(rejected)
      await assertNothingTicks(sandbox)
    },
    ['exec', 'fs', 'killableProcesses'],
  ),
  sandboxCase(
    'exec.abort.ends-the-tree',
    'an abort ends the whole process tree',
    async (sandbox) => {
      const controller = new AbortController()
      const rejected = assert.rejects(sandbox.process.exec(TICKING_TREE, { signal: controller.signal }))
      await firstTick(sandbox)
      controller.abort(new Error('no longer wanted'))
      await assertSoon(rejected)
      await assertNothingTicks(sandbox)
    },
    ['exec', 'fs', 'killableProcesses', 'jobs'],
  ),
  sandboxCase(
    'exec.abort.after',
    'an abort after the end changes nothing',
    async ({ process }) => {
      const controller = new AbortController()
      const result = await process.exec('echo x', { signal: controller.signal })
      controller.abort(new Error('too late'))
      assert.equal(result.stdout, 'x\n')
      assert.equal((await process.exec('echo y')).stdout, 'y\n')
    },
    ['exec'],
  ),
]

export const execStopCases: readonly ProviderCase[] = [...timeoutCases, ...abortCases]
