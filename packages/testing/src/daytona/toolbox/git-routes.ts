import type { Exchange } from '../http/exchange.ts'
import type { Router } from '../http/router.ts'
import { daemonError } from '../http/wire-error.ts'
import { runProgram } from './execute-command.ts'
import { readJson } from './read-json.ts'
import type { ToolboxOf } from './session-routes.ts'

type GitBody = Record<string, unknown>

/** The older git endpoints, by the machine's own git; those that came after 0.190 answer 404. */
export function addGitRoutes(router: Router, toolboxOf: ToolboxOf): void {
  const git = async (exchange: Exchange, cwd: string, args: readonly string[]): Promise<string> => {
    const envs = { GIT_TERMINAL_PROMPT: '0' }
    const { exitCode, result } = await runProgram(toolboxOf(exchange), { argv: ['git', ...args], cwd, envs, input: '' })
    if (exitCode !== 0) throw daemonError(400, result.trim() || `git exited with ${exitCode}`)
    return result
  }
  const post = (
    path: string,
    run: (exchange: Exchange, cwd: string, body: GitBody) => Promise<object | undefined>,
  ): void => {
    router.add('POST', `/git/${path}`, async (exchange) => {
      const body = await readJson<GitBody>(exchange)
      const answer = await run(exchange, text(body['path']) || '.', body)
      if (answer) exchange.json(200, answer)
      else exchange.send(200)
    })
  }
  post('clone', async (exchange, path, body) => {
    const branch = text(body['branch'])
    const depth = Number(body['depth'] ?? 0)
    const options = [...(branch ? ['--branch', branch] : []), ...(depth > 0 ? ['--depth', String(depth)] : [])]
    await git(exchange, '.', ['clone', ...options, '--', withCredentials(body), path])
    const commit = text(body['commit_id'])
    if (commit) await git(exchange, path, ['checkout', commit])
    return undefined
  })
  post('add', async (exchange, cwd, body) => void (await git(exchange, cwd, ['add', '--', ...texts(body['files'])])))
  post('commit', async (exchange, cwd, body) => {
    const identity = ['-c', `user.name=${text(body['author'])}`, '-c', `user.email=${text(body['email'])}`]
    const allowEmpty = body['allow_empty'] === true ? ['--allow-empty'] : []
    await git(exchange, cwd, [...identity, 'commit', ...allowEmpty, '-m', text(body['message'])])
    return { hash: (await git(exchange, cwd, ['rev-parse', 'HEAD'])).trim() }
  })
  for (const action of ['push', 'pull'] as const)
    post(action, async (exchange, cwd) => void (await git(exchange, cwd, [action])))
  post('checkout', async (exchange, cwd, body) => void (await git(exchange, cwd, ['checkout', text(body['branch'])])))
  post('branches', async (exchange, cwd, body) => void (await git(exchange, cwd, ['branch', text(body['name'])])))
  router.add('GET', '/git/branches', async (exchange) => {
    const branches = await git(exchange, exchange.query('path') ?? '.', ['branch', '--format=%(refname:short)'])
    exchange.json(200, { branches: branches.split('\n').filter(Boolean) })
  })
  router.add('GET', '/git/status', async (exchange) => {
    const cwd = exchange.query('path') ?? '.'
    const currentBranch = (await git(exchange, cwd, ['branch', '--show-current'])).trim()
    const fileStatus = (await git(exchange, cwd, ['status', '--porcelain'])).split('\n').filter(Boolean).map(fileState)
    exchange.json(200, { currentBranch, fileStatus, ahead: 0, behind: 0, branchPublished: false })
  })
}

const STATES: Record<string, string> = {
  ' ': 'Unmodified',
  '?': 'Untracked',
  M: 'Modified',
  A: 'Added',
  D: 'Deleted',
  R: 'Renamed',
  C: 'Copied',
  U: 'Updated but unmerged',
}

function fileState(line: string): object {
  const state = (at: number): string => STATES[line[at] ?? ' '] ?? 'Unmodified'
  return { name: line.slice(3), staging: state(0), worktree: state(1), extra: '' }
}

function withCredentials(body: GitBody): string {
  const username = text(body['username'])
  if (!username || !URL.canParse(text(body['url']))) return text(body['url'])
  const url = new URL(text(body['url']))
  url.username = username
  url.password = text(body['password'])
  return url.href
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
