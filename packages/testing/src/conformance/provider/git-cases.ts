import assert from 'node:assert/strict'
import { isHoldfastError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import { rejectsWith } from '../stores/rejects-with.ts'
import { outputOf } from './command-output.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const IDENTITY = '-c user.name=Ann -c user.email=ann@example.com'
/** A repository with two commits on `main` and one more on `side`, in the sandbox itself. */
const MAKE_ORIGIN = `
git init -q --bare -b main origin.git
git init -q -b main seed && cd seed
echo one > file && git add . && git ${IDENTITY} commit -qm first
echo two > file && git add . && git ${IDENTITY} commit -qm second
git push -q ../origin.git main
git checkout -q -b side && echo side > side && git add . && git ${IDENTITY} commit -qm side
git push -q ../origin.git side
cd .. && rm -rf seed`

/** The URL of a fresh origin. */
async function makeOrigin(sandbox: SandboxHandle): Promise<string> {
  await outputOf(sandbox, MAKE_ORIGIN)
  const root = (await outputOf(sandbox, 'pwd')).trim()
  return `file://${root}/origin.git`
}

const NEEDS = ['git', 'exec', 'fs']

export const gitCases: readonly ProviderCase[] = [
  sandboxCase(
    'git.clone',
    'clone fetches one commit of the default branch',
    async (sandbox) => {
      const url = await makeOrigin(sandbox)
      await sandbox.git.clone({ url, dir: 'clone' })
      assert.equal(await sandbox.fs.read('clone/file'), 'two\n')
      assert.equal(await outputOf(sandbox, 'git -C clone rev-list --count HEAD'), '1\n')
      assert.equal(await sandbox.git.branch('clone'), 'main')
    },
    NEEDS,
  ),
  sandboxCase(
    'git.clone.ref-and-depth',
    'clone takes a branch or a commit, and a depth',
    async (sandbox) => {
      const url = await makeOrigin(sandbox)
      await sandbox.git.clone({ url, dir: 'side', ref: 'side', depth: 'full' })
      assert.equal(await sandbox.git.branch('side'), 'side')
      assert.equal(await outputOf(sandbox, 'git -C side rev-list --count HEAD'), '3\n')
      const commit = (await outputOf(sandbox, 'git -C side rev-parse HEAD~2')).trim()
      await sandbox.git.clone({ url, dir: 'old', ref: commit, depth: 'full' })
      assert.equal(await sandbox.fs.read('old/file'), 'one\n')
    },
    NEEDS,
  ),
  sandboxCase(
    'git.clone.into-workspace',
    'clone without a directory fills the workspace root',
    async (sandbox, { create }) => {
      const url = await makeOrigin(sandbox)
      const copy = await create()
      // The origin is a directory of the first sandbox; where the second cannot see it, there is nothing to check.
      if ((await copy.process.exec(`git ls-remote ${url}`)).exitCode !== 0) return
      await copy.git.clone({ url })
      assert.equal(await copy.fs.read('file'), 'two\n')
    },
    NEEDS,
  ),
  sandboxCase(
    'git.work',
    'status, add, commit, push and pull do their work',
    async (sandbox) => {
      const { git, fs } = sandbox
      const url = await makeOrigin(sandbox)
      await git.clone({ url, dir: 'one' })
      await git.clone({ url, dir: 'two' })
      await fs.write('one/new file', 'x')
      assert.equal(await git.status('one'), '?? "new file"\n')
      await git.add(['new file'], 'one')
      assert.equal(await git.status('one'), 'A  "new file"\n')
      await git.commit('a "message" with $(touch pwned)\n\nand a body', 'one')
      assert.equal(await git.status('one'), '')
      assert.equal(await outputOf(sandbox, 'git -C one log -1 --format=%s'), 'a "message" with $(touch pwned)\n')
      await git.push('one')
      await git.pull('two')
      assert.equal(await fs.read('two/new file'), 'x')
      assert.equal(await fs.exists('one/pwned'), false)
    },
    NEEDS,
  ),
  sandboxCase(
    'git.add.odd-names',
    'add takes names that begin with a dash',
    async (sandbox) => {
      await sandbox.git.clone({ url: await makeOrigin(sandbox), dir: 'one' })
      await sandbox.fs.write('one/--all', 'x')
      await sandbox.fs.write('one/other', 'x')
      await sandbox.git.add(['--all'], 'one')
      assert.equal(await outputOf(sandbox, 'git -C one diff --cached --name-only'), '--all\n')
    },
    NEEDS,
  ),
  sandboxCase(
    'git.failure',
    'a git command that fails is GIT_FAILED with its exit code',
    async (sandbox) => {
      await sandbox.fs.mkdir('plain')
      await outputOf(sandbox, 'git init -q repository')
      const failing = {
        'clone of nothing': () => sandbox.git.clone({ url: 'file:///no/such/repository', dir: 'clone' }),
        'commit of nothing': () => sandbox.git.commit('empty', 'repository'),
        'push to nowhere': () => sandbox.git.push('repository'),
        'add of nothing': () => sandbox.git.add(['missing'], 'repository'),
      }
      for (const [what, call] of Object.entries(failing)) {
        const error = await rejectsWith('GIT_FAILED', call, what)
        assert.equal(typeof error.details['exitCode'], 'number', what)
        assert.notEqual(error.details['exitCode'], 0, what)
      }
    },
    NEEDS,
  ),
  sandboxCase(
    'git.no-prompt',
    'git never prompts, and no token stands in an error or a configuration',
    async (sandbox) => {
      const token = 'tok-correct-horse-battery'
      const clone = sandbox.git.clone({
        url: 'http://127.0.0.1:9/repository.git',
        dir: 'clone',
        auth: { username: 'me', token },
      })
      const error = await clone.then(
        () => assert.fail('the clone cannot have worked'),
        (reason: unknown) => reason,
      )
      assert.ok(isHoldfastError(error, 'GIT_FAILED'))
      const told = JSON.stringify({ message: error.message, details: error.details, cause: String(error.cause) })
      assert.equal(told.includes(token), false, 'the token stands in the error')
      assert.equal(await outputOf(sandbox, `grep -rl ${token.slice(0, 12)} . "$HOME" || true`), '')
    },
    NEEDS,
  ),
  sandboxCase(
    'git.bad-arguments',
    'malformed arguments are refused',
    async ({ git }) => {
      await rejectsWith('INVALID_ARGUMENT', () => git.clone({ url: '' }))
      await rejectsWith('INVALID_ARGUMENT', () => git.clone({ url: 'file:///x', depth: 0 }))
      await rejectsWith('INVALID_PATH', () => git.status('/etc'))
    },
    NEEDS,
  ),
]
