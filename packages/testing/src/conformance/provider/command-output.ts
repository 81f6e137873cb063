import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { SandboxHandle, SandboxSpawnHandle } from '@holdfast/core'

/** Runs the command, which must succeed in silence, and gives its output. */
export async function outputOf(sandbox: SandboxHandle, command: string, env?: Record<string, string>): Promise<string> {
  const result = await sandbox.process.exec(command, env === undefined ? {} : { env })
  assert.deepEqual({ exitCode: result.exitCode, stderr: result.stderr }, { exitCode: 0, stderr: '' }, command)
  return result.stdout
}

export async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

/** Both outputs and the exit code of a process. */
export async function endOf(
  process: SandboxSpawnHandle,
): Promise<{ stdout: string; stderr: string; exitCode: number }> {
  const [stdout, stderr, exitCode] = await Promise.all([textOf(process.stdout), textOf(process.stderr), process.wait()])
  return { stdout, stderr, exitCode }
}

const TICK_FILE = 'ticks'
const TICK_LOOP = `while :; do echo tick >> ${TICK_FILE}; sleep 0.05; done`
/** Several ticks long. */
const QUIET_MS = 250
const LOOK_EVERY_MS = 30
const FIRST_TICK_LIMIT_MS = 10_000

/** A command that never ends and shows by a growing file that it runs. */
export const TICKING_COMMAND = TICK_LOOP

/** The same in a child, a grandchild, and a child in a session of its own where the sandbox has `setsid`. */
export const TICKING_TREE = [
  `( ( ${TICK_LOOP} ) & wait ) &`,
  `SETSID=$(command -v setsid)`,
  `$SETSID sh -c '${TICK_LOOP}' >/dev/null 2>&1 &`,
  'wait',
].join('\n')

/** Resolves once the command has ticked. */
export async function firstTick(sandbox: SandboxHandle): Promise<void> {
  const startedAt = performance.now()
  while ((await tickCount(sandbox)) === 0) {
    assert.ok(performance.now() - startedAt < FIRST_TICK_LIMIT_MS, 'the command never ticked')
    await pause(LOOK_EVERY_MS)
  }
}

/** Fails when anything still ticks. */
export async function assertNothingTicks(sandbox: SandboxHandle): Promise<void> {
  const before = await tickCount(sandbox)
  await pause(QUIET_MS)
  assert.equal(await tickCount(sandbox), before, 'a process of the command still runs')
}

async function tickCount(sandbox: SandboxHandle): Promise<number> {
  if (!(await sandbox.fs.exists(TICK_FILE))) return 0
  return (await sandbox.fs.readBytes(TICK_FILE)).length
}
