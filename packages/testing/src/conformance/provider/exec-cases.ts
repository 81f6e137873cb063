import assert from 'node:assert/strict'
import { rejectsWith } from '../stores/rejects-with.ts'
import { outputOf } from './command-output.ts'
import { ODD_NAMES } from './odd-text.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const resultCases: readonly ProviderCase[] = [
  sandboxCase(
    'exec.result',
    'exec gives both outputs apart, and the exit code',
    async ({ process }) => {
      const result = await process.exec('echo out; echo err >&2; exit 3')
      assert.deepEqual(result, { stdout: 'out\n', stderr: 'err\n', exitCode: 3 })
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.exit-codes',
    'the exit code is the one of the command',
    async ({ process }) => {
      const commands = { true: 0, false: 1, 'exit 7': 7, 'exit 255': 255, '(exit 9)': 9, 'no-such-command-here': 127 }
      for (const [command, exitCode] of Object.entries(commands)) {
        assert.equal((await process.exec(command)).exitCode, exitCode, command)
      }
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.killed-by-signal',
    'a command killed by signal n has 128 + n',
    async ({ process }) => {
      for (const [signal, number] of Object.entries({ KILL: 9, TERM: 15, HUP: 1 })) {
        assert.equal((await process.exec(`kill -s ${signal} $$; sleep 5`)).exitCode, 128 + number, signal)
      }
    },
    ['exec', 'signals'],
  ),
  sandboxCase(
    'exec.only-once',
    'exec runs the command once',
    async (sandbox) => {
      await outputOf(sandbox, 'echo x >> runs')
      assert.equal(await sandbox.fs.read('runs'), 'x\n')
    },
    ['exec', 'fs'],
  ),
  sandboxCase(
    'exec.side-by-side',
    'commands that run at the same time keep their outputs apart',
    async (sandbox) => {
      const numbers = Array.from({ length: 8 }, (_, index) => index)
      const outputs = await Promise.all(
        numbers.map((number) => outputOf(sandbox, `echo start ${number}; sleep 0.05; echo end ${number}`)),
      )
      assert.deepEqual(
        outputs,
        numbers.map((number) => `start ${number}\nend ${number}\n`),
      )
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.next-starts-fresh',
    'a command leaves no directory, variable or option to the next',
    async (sandbox) => {
      const root = await outputOf(sandbox, 'pwd')
      await outputOf(sandbox, 'mkdir sub && cd sub && LEFT=over && export LEFT && set -f')
      assert.equal(await outputOf(sandbox, 'pwd; echo "${LEFT:-unset}"'), `${root}unset\n`)
    },
    ['exec'],
  ),
]

/** Commands that naive wrapping breaks, with what they print. */
const AWKWARD: readonly (readonly [command: string, stdout: string])[] = [
  ["cat <<'END'\nline $one\n  two'\"\nEND", 'line $one\n  two\'"\n'],
  ["cat > file <<'END'\nx\nEND\ncat file", 'x\n'],
  ['echo a # a comment at the end', 'a\n'],
  ['echo a; # a comment\n# another', 'a\n'],
  ['echo a;', 'a\n'],
  ['\n\necho a\n\n', 'a\n'],
  ['  echo "  a"', '  a\n'],
  ['echo "it\'s \\"quoted\\" \\$HOME"', 'it\'s "quoted" $HOME\n'],
  ['if true; then\n  echo yes\nfi', 'yes\n'],
  ['f() { echo "in $1"; }; f x', 'in x\n'],
  ['echo a && echo b || echo c', 'a\nb\n'],
  ['{ echo a; } ; ( echo b )', 'a\nb\n'],
  ['exit 0; echo never', ''],
  ['echo é漢😀', 'é漢😀\n'],
  ['printf "%s\\n" "a  b" \'c"d\'', 'a  b\nc"d\n'],
]

const commandCases: readonly ProviderCase[] = [
  sandboxCase(
    'exec.awkward-commands',
    'scripts, heredocs, comments and quotes run as they are written',
    async (sandbox) => {
      for (const [command, stdout] of AWKWARD) {
        assert.deepEqual(await sandbox.process.exec(command), { stdout, stderr: '', exitCode: 0 }, command)
      }
      assert.equal(await outputOf(sandbox, 'echo still here'), 'still here\n')
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.named-outputs',
    'a command may open its outputs by name',
    async ({ process }) => {
      const result = await process.exec('echo out > /dev/stdout; echo err > /dev/stderr')
      assert.deepEqual(result, { stdout: 'out\n', stderr: 'err\n', exitCode: 0 })
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.exit-in-script',
    '`exit` in a command ends that command only',
    async (sandbox) => {
      assert.equal((await sandbox.process.exec('set -e; false; echo never')).exitCode, 1)
      assert.equal((await sandbox.process.exec('exit 5')).exitCode, 5)
      assert.equal(await outputOf(sandbox, 'echo next'), 'next\n')
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.open-end',
    'a command that ends in a backslash or an ampersand ends, and the next one works',
    async (sandbox) => {
      for (const command of ['echo a \\', 'true &', 'true & # comment']) {
        assert.equal((await sandbox.process.exec(command)).exitCode, 0, command)
      }
      assert.equal(await outputOf(sandbox, 'echo next'), 'next\n')
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.long-command',
    'a command of several hundred kilobytes runs',
    async (sandbox) => {
      const line = 'x'.repeat(99)
      const body = Array.from({ length: 4_000 }, () => line).join('\n')
      const command = `cat > file <<'END'\n${body}\nEND\nwc -c < file; exit 6`
      const { stdout, exitCode } = await sandbox.process.exec(command)
      assert.deepEqual([stdout.trim(), exitCode], ['400000', 6])
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.syntax-error',
    'a syntax error is an exit code with a message, not a rejection',
    async ({ process }) => {
      const { exitCode, stderr, stdout } = await process.exec('echo "never closed')
      assert.ok(exitCode > 0, 'the exit code must not be 0')
      assert.notEqual(stderr, '')
      assert.equal(stdout, '')
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.bad-command',
    'a command that is no string or holds NUL is refused',
    async ({ process }) => {
      await rejectsWith('INVALID_ARGUMENT', () => process.exec('echo a\0b'))
      await rejectsWith('INVALID_ARGUMENT', () => process.exec(undefined as unknown as string))
    },
    ['exec'],
  ),
  sandboxCase(
    'exec.background-child',
    'a background child that keeps the outputs open does not hold exec up',
    async (sandbox) => {
      const startedAt = performance.now()
      const result = await sandbox.process.exec('sleep 20 & echo done; exit 4')
      assert.ok(performance.now() - startedAt < 10_000, 'exec waited for the child')
      assert.deepEqual(result, { stdout: 'done\n', stderr: '', exitCode: 4 })
      assert.equal((await sandbox.process.exec('sleep 20 &')).exitCode, 0)
      assert.equal(await outputOf(sandbox, 'echo next'), 'next\n')
    },
    ['exec', 'jobs'],
  ),
  sandboxCase(
    'exec.background-child-lives',
    'a background child goes on after exec',
    async (sandbox) => {
      await outputOf(sandbox, '(sleep 0.3; echo late > late) & echo started')
      assert.equal(
        await outputOf(sandbox, 'for i in 1 2 3 4 5 6 7 8 9 10; do test -s late && break; sleep 0.2; done; cat late'),
        'late\n',
      )
    },
    ['exec', 'jobs'],
  ),
]

const directoryCases: readonly ProviderCase[] = [
  sandboxCase(
    'exec.cwd',
    'a command starts in the given directory, whatever its name',
    async (sandbox) => {
      for (const name of ODD_NAMES) {
        await sandbox.fs.write(`dir/${name}/marker`, name)
        assert.equal((await sandbox.process.exec('cat marker', { cwd: `dir/${name}` })).stdout, name)
      }
      assert.equal((await sandbox.process.exec('ls', { cwd: '/workspace' })).stdout, 'dir\n')
      assert.equal((await sandbox.process.exec('ls', { cwd: 'dir/..' })).stdout, 'dir\n')
    },
    ['exec', 'fs'],
  ),
  sandboxCase(
    'exec.cwd-missing',
    'a working directory that is missing or a file is PROCESS_START_FAILED',
    async (sandbox) => {
      await sandbox.fs.write('file', 'x')
      for (const cwd of ['missing', 'file', 'file/below']) {
        await rejectsWith('PROCESS_START_FAILED', () => sandbox.process.exec('touch ran', { cwd }), cwd)
      }
      assert.equal(await sandbox.fs.exists('ran'), false)
    },
    ['exec', 'fs'],
  ),
  sandboxCase(
    'exec.cwd-outside',
    'a working directory outside the workspace is refused',
    async ({ process }) => {
      for (const cwd of ['', '..', '/etc', 'a\0b'])
        await rejectsWith('INVALID_PATH', () => process.exec('true', { cwd }), cwd)
    },
    ['exec'],
  ),
]

export const execCases: readonly ProviderCase[] = [...resultCases, ...commandCases, ...directoryCases]
