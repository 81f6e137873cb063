import assert from 'node:assert/strict'
import type { SandboxHandle, SandboxTerminal, SandboxTerminalOptions } from '@holdfast/core'
import { required } from '../stores/required.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { assertNothingTicks, firstTick, TICKING_TREE } from './command-output.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const NEEDS = ['terminal']

function open(sandbox: SandboxHandle, options: SandboxTerminalOptions): Promise<SandboxTerminal> {
  return required(sandbox.terminal, 'terminal').open(options)
}

async function screenOf(terminal: SandboxTerminal): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of terminal.output) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/** Reads until `text` has appeared; gives what came before and it. */
async function readUntil(pieces: AsyncIterator<Uint8Array>, text: string): Promise<string> {
  let seen = Buffer.alloc(0)
  while (!seen.toString('utf8').includes(text)) {
    const next = await pieces.next()
    assert.ok(next.done !== true, `the terminal ended before "${text}" appeared`)
    seen = Buffer.concat([seen, next.value])
  }
  return seen.toString('utf8')
}

export const terminalCases: readonly ProviderCase[] = [
  sandboxCase(
    'terminal.command',
    'a terminal runs a command, shows its output from the first byte, and gives its exit code',
    async (sandbox) => {
      const terminal = await open(sandbox, {
        command: 'echo first; test -t 0 && test -t 1 && echo "on a terminal"; exit 3',
      })
      const screen = await screenOf(terminal)
      assert.ok(screen.startsWith('first\r\n'), JSON.stringify(screen))
      assert.ok(screen.includes('on a terminal'), JSON.stringify(screen))
      assert.deepEqual([await terminal.exited, await terminal.exited], [3, 3])
    },
    NEEDS,
  ),
  sandboxCase(
    'terminal.shell',
    'without a command it is a shell',
    async (sandbox) => {
      const terminal = await open(sandbox, {})
      await terminal.write('echo $((40 + 2)); exit 5\n')
      const screen = await screenOf(terminal)
      assert.equal(await terminal.exited, 5)
      assert.ok(screen.includes('42'), JSON.stringify(screen))
    },
    NEEDS,
  ),
  sandboxCase(
    'terminal.input',
    'what is written arrives, as text or bytes',
    async (sandbox) => {
      const terminal = await open(sandbox, { command: 'read a; read b; echo "got $a and $b"' })
      await terminal.write('é漢\n')
      await terminal.write(new TextEncoder().encode('😀\n'))
      const screen = await screenOf(terminal)
      assert.ok(screen.includes('got é漢 and 😀'), JSON.stringify(screen))
    },
    NEEDS,
  ),
  sandboxCase(
    'terminal.size',
    'a terminal has the given size, and resize changes it',
    async (sandbox) => {
      const terminal = await open(sandbox, { command: 'stty size; read x; stty size', cols: 123, rows: 45 })
      const pieces = terminal.output[Symbol.asyncIterator]()
      await readUntil(pieces, '45 123')
      await terminal.resize({ cols: 67, rows: 8 })
      await terminal.write('\n')
      await readUntil(pieces, '8 67')
      assert.equal(await terminal.exited, 0)
    },
    NEEDS,
  ),
  sandboxCase(
    'terminal.surroundings',
    'directory and variables are those that were asked for',
    async (sandbox) => {
      await sandbox.fs.write('dir/marker', 'x')
      await sandbox.env.set({ STORED: 'stored' })
      const terminal = await open(sandbox, { command: 'ls; echo $STORED $GIVEN', cwd: 'dir', env: { GIVEN: 'given' } })
      const screen = await screenOf(terminal)
      assert.ok(screen.includes('marker') && screen.includes('stored given'), JSON.stringify(screen))
    },
    [...NEEDS, 'fs', 'env'],
  ),
  sandboxCase(
    'terminal.kill',
    'kill ends what runs in it, and may be repeated',
    async (sandbox) => {
      const terminal = await open(sandbox, { command: TICKING_TREE })
      await firstTick(sandbox)
      await terminal.kill()
      await assertNothingTicks(sandbox)
      await terminal.kill()
      assert.notEqual(await terminal.exited, 0)
    },
    [...NEEDS, 'fs', 'jobs'],
  ),
  sandboxCase(
    'terminal.close',
    'close lets go without ending what runs',
    async (sandbox) => {
      const terminal = await open(sandbox, { command: 'sleep 0.4; echo done > done' })
      await terminal.close()
      await terminal.close()
      const { stdout } = await sandbox.process.exec(
        'for i in 1 2 3 4 5 6 7 8 9 10; do test -s done && break; sleep 0.2; done; cat done',
      )
      assert.equal(stdout, 'done\n')
    },
    [...NEEDS, 'exec'],
  ),
  sandboxCase(
    'terminal.refused',
    'malformed arguments are refused',
    async (sandbox) => {
      await rejectsWith('INVALID_ARGUMENT', () => open(sandbox, { cols: 0 }))
      await rejectsWith('INVALID_PATH', () => open(sandbox, { cwd: '/etc' }))
      await rejectsWith('INVALID_ENV_NAME', () => open(sandbox, { env: { 'A;B': 'x' } }))
    },
    NEEDS,
  ),
]
