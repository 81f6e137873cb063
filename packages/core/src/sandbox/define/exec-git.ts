import { InvalidInputError, ProviderError } from '../../errors/error-classes.ts'
import { GIT_NO_PROMPT_ENV } from '../../provider-kit/git-no-prompt-env.ts'
import { shellCommand } from '../../provider-kit/shell-quote.ts'
import type { SandboxGit, SandboxGitCloneInput } from '../sandbox-git.ts'
import type { SandboxExecResult } from '../sandbox-process.ts'
import { GitCredentials } from './git-credentials.ts'
import type { HandleScope } from './handle-scope.ts'
import { withoutSecrets } from './without-secrets.ts'

/** A git command that talks to a server ends after this long. */
const NETWORK_TIMEOUT_MS = 300_000
/** How much of what git said is kept in an error. */
const MAX_ERROR_TEXT = 2_000
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024
const COMMIT_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

interface GitCommand {
  name: string
  /** A shell command line. */
  line: string
  cwd: string
  stdin?: string
  network?: boolean
}

/** Git by running `git` in the sandbox. */
export function execGit(scope: HandleScope): SandboxGit {
  const credentials = new GitCredentials()
  const run = (command: GitCommand): Promise<SandboxExecResult> => runGit(scope, credentials, command)
  const call = <T>(operation: string, task: () => Promise<T>): Promise<T> =>
    scope.call(`git.${operation}`, undefined, () => {
      scope.require('exec')
      return task()
    })
  const git = (...words: string[]): string => shellCommand(['git', ...words])
  const remote = (...words: string[]): string => git(...credentials.options(), ...words)

  return {
    clone: (input) => call('clone', async () => void (await run(cloneCommand(scope, credentials, input)))),
    status: (dir) =>
      call('status', async () => {
        const result = await run({ name: 'status', line: git('status', '--porcelain'), cwd: scope.path(dir) })
        return result.stdout
      }),
    add: (paths, dir) =>
      call('add', async () => {
        const cwd = scope.path(dir)
        const names = paths.map((path) => (path.startsWith('/') ? scope.path(path) : path))
        if (names.length > 0) await run({ name: 'add', line: git('add', '--', ...names), cwd })
      }),
    commit: (message, dir) =>
      call('commit', async () => {
        if (typeof message !== 'string') throw new InvalidInputError('INVALID_ARGUMENT', 'message must be a string.')
        await run({ name: 'commit', line: COMMIT_LINE, cwd: scope.path(dir), stdin: message })
      }),
    push: (dir) =>
      call('push', async () => {
        const line = remote('-c', 'push.autoSetupRemote=true', 'push')
        await run({ name: 'push', line, cwd: scope.path(dir), network: true })
      }),
    pull: (dir) =>
      call('pull', async () => {
        await run({ name: 'pull', line: remote('pull', '--no-edit'), cwd: scope.path(dir), network: true })
      }),
    branch: (dir) =>
      call('branch', async () => {
        const line = 'git symbolic-ref --short -q HEAD || git rev-parse --abbrev-ref HEAD'
        const result = await run({ name: 'branch', line, cwd: scope.path(dir) })
        return result.stdout.replace(/\n$/, '')
      }),
  }
}

/** A sandbox without a configured author still commits; a configured one is kept. */
const COMMIT_LINE = [
  'if test -n "$GIT_AUTHOR_EMAIL$EMAIL" || git config user.email >/dev/null 2>&1',
  'then git commit --file=-',
  'else git -c user.name=Holdfast -c user.email=holdfast@localhost commit --file=-',
  'fi',
].join('\n')

function cloneCommand(scope: HandleScope, credentials: GitCredentials, input: SandboxGitCloneInput): GitCommand {
  const { url, ref, auth, depth = 1 } = input
  if (typeof url !== 'string' || url === '') throw new InvalidInputError('INVALID_ARGUMENT', 'url must not be empty.')
  if (depth !== 'full' && !(Number.isSafeInteger(depth) && depth > 0)) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'depth must be a positive integer or "full".')
  }
  const dir = scope.path(input.dir)
  const cleanUrl = credentials.register(url, auth)
  const git = (...words: string[]): string => shellCommand(['git', ...credentials.options(), ...words])
  const depthOption = depth === 'full' ? [] : [`--depth=${depth}`]
  const command = { name: 'clone', cwd: scope.path(undefined), network: true }
  if (ref === undefined || !COMMIT_HASH.test(ref)) {
    const branchOption = ref === undefined ? [] : [`--branch=${ref}`]
    return { ...command, line: git('clone', ...depthOption, ...branchOption, '--', cleanUrl, dir) }
  }
  // `clone` cannot name a commit, so the commit is fetched on its own.
  const lines = [
    git('clone', '--no-checkout', ...depthOption, '--', cleanUrl, dir),
    git('-C', dir, 'fetch', ...depthOption, 'origin', ref),
    git('-C', dir, 'checkout', '--detach', ref),
  ]
  return { ...command, line: lines.join(' && ') }
}

async function runGit(
  scope: HandleScope,
  credentials: GitCredentials,
  command: GitCommand,
): Promise<SandboxExecResult> {
  const callerEnv = scope.env()
  const result = await scope.backend.exec(command.line, {
    cwd: command.cwd,
    env: { ...GIT_NO_PROMPT_ENV, ...callerEnv, ...(command.network === true ? credentials.env() : {}) },
    stdin: new TextEncoder().encode(command.stdin ?? ''),
    maxOutputBytes: MAX_OUTPUT_BYTES,
    ...(command.network === true ? { timeoutMs: NETWORK_TIMEOUT_MS } : {}),
  })
  if (result.exitCode === 0 && result.timedOut !== true) return result
  const secrets = [...credentials.secrets(), ...Object.values(callerEnv)]
  throw gitError(command.name, result, withoutSecrets(result.stderr.slice(-MAX_ERROR_TEXT), secrets))
}

function gitError(name: string, result: SandboxExecResult, stderr: string): ProviderError {
  const timedOut = result.timedOut === true
  const why = timedOut
    ? `did not end within ${NETWORK_TIMEOUT_MS / 1000} s; check the URL, the credentials and the sandbox's network`
    : `ended with exit code ${result.exitCode}`
  const details = { command: name, exitCode: result.exitCode, stderr, timedOut }
  return new ProviderError('GIT_FAILED', `git ${name} ${why}.`, { details, retryable: timedOut })
}
