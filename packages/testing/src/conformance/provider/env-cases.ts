import assert from 'node:assert/strict'
import { rejectsWith } from '../stores/rejects-with.ts'
import { endOf, outputOf } from './command-output.ts'
import { BAD_ENV_NAMES, ODD_VALUES } from './odd-text.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const SECRET = 'correct-horse-battery-staple'
/** Every command line that the sandbox can see. */
const SHOW_COMMAND_LINES = `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; cat /proc/$$/cmdline | tr '\\0' ' '`

export const envCases: readonly ProviderCase[] = [
  sandboxCase(
    'env.option.literal',
    'values of variables arrive unchanged',
    async (sandbox) => {
      for (const value of ODD_VALUES) {
        assert.equal(await outputOf(sandbox, 'printf %s "$VALUE"', { VALUE: value }), value, JSON.stringify(value))
      }
      assert.equal(await sandbox.fs.exists('pwned'), false)
    },
    ['exec', 'env', 'fs'],
  ),
  sandboxCase(
    'env.option.once',
    'a variable of one command is unknown to the next',
    async (sandbox) => {
      assert.equal(await outputOf(sandbox, 'echo $ONCE', { ONCE: 'here' }), 'here\n')
      assert.equal(await outputOf(sandbox, 'echo "${ONCE-unset}"'), 'unset\n')
    },
    ['exec', 'env'],
  ),
  sandboxCase(
    'env.option.bad-names',
    'a name that a shell could read as syntax is refused, and nothing runs',
    async (sandbox) => {
      for (const name of BAD_ENV_NAMES) {
        await rejectsWith('INVALID_ENV_NAME', () => sandbox.process.exec('touch ran', { env: { [name]: 'x' } }), name)
      }
      assert.deepEqual(await sandbox.fs.list('.'), [])
    },
    ['exec', 'env', 'fs'],
  ),
  sandboxCase(
    'env.option.bad-values',
    'a value that is no text or holds NUL is refused',
    async ({ process }) => {
      for (const value of ['a\0b', 7, null]) {
        await rejectsWith('INVALID_ARGUMENT', () => process.exec('true', { env: { NAME: value as string } }))
      }
    },
    ['exec', 'env'],
  ),
  sandboxCase(
    'env.option.not-on-command-lines',
    'the value of a variable stands on no command line',
    async (sandbox) => {
      await sandbox.env.set({ STORED: `${SECRET}-stored` })
      const lines = await outputOf(sandbox, SHOW_COMMAND_LINES, { GIVEN: `${SECRET}-given` })
      assert.match(lines, /cmdline/, 'the command lines could not be read')
      assert.equal(lines.includes(SECRET), false, 'a value stands on a command line')
      const spawned = await endOf(await sandbox.process.spawn(SHOW_COMMAND_LINES, { env: { GIVEN: SECRET } }))
      assert.equal(spawned.stdout.includes(SECRET), false, 'a value stands on a command line of spawn')
    },
    ['exec', 'env', 'procfs', 'backgroundProcesses'],
  ),
  sandboxCase(
    'env.set.later-commands',
    'env.set sets variables for every later command',
    async (sandbox) => {
      await sandbox.env.set({ FIRST: 'one', SECOND: 'two words' })
      await sandbox.env.set({ SECOND: 'replaced', THIRD: "it's $HOME" })
      assert.equal(await outputOf(sandbox, 'printf "%s|" "$FIRST" "$SECOND" "$THIRD"'), "one|replaced|it's $HOME|")
    },
    ['exec', 'env'],
  ),
  sandboxCase(
    'env.set.in-spawn',
    "env.set holds for spawn too, and a command's own variables come first",
    async (sandbox) => {
      await sandbox.env.set({ KEPT: 'set', OWN: 'set' })
      const { stdout } = await endOf(await sandbox.process.spawn('echo $KEPT $OWN', { env: { OWN: 'given' } }))
      assert.equal(stdout, 'set given\n')
      assert.equal(await outputOf(sandbox, 'echo $OWN'), 'set\n')
    },
    ['exec', 'env', 'backgroundProcesses'],
  ),
  sandboxCase(
    'env.set.all-or-nothing',
    'a bad name in env.set means that none is set',
    async (sandbox) => {
      for (const name of BAD_ENV_NAMES) {
        await rejectsWith('INVALID_ENV_NAME', () => sandbox.env.set({ GOOD: 'x', [name]: 'y' }), name)
      }
      assert.equal(await outputOf(sandbox, 'echo "${GOOD-unset}"'), 'unset\n')
    },
    ['exec', 'env'],
  ),
  sandboxCase(
    'env.host-is-apart',
    'the environment of the host does not reach a command',
    async (sandbox) => {
      process.env['HOLDFAST_CONFORMANCE_SECRET'] = SECRET
      try {
        assert.equal((await outputOf(sandbox, 'env')).includes(SECRET), false)
      } finally {
        delete process.env['HOLDFAST_CONFORMANCE_SECRET']
      }
    },
    ['exec'],
  ),
]
