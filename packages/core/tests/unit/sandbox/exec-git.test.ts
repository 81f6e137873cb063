import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineSandboxProvider } from '../../../src/index.ts'
import type { SandboxHandle } from '../../../src/index.ts'
import { localShellHandle } from '../../support/local-shell-backend.ts'
import { stubBackend, stubHandle } from '../../support/stub-backend.ts'
import type { Call } from '../../support/stub-backend.ts'

const TOKEN = `s3cret"'$(touch marker)\\`
const dir = mkdtempSync(join(tmpdir(), 'holdfast-git-'))
const seenAuth: string[] = []
let server: Server
let origin: string

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { cwd, encoding: 'utf8' })

/** Serves the bare repository by git's plain file protocol, to those who know the token. */
beforeAll(async () => {
  const source = join(dir, 'source')
  mkdirSync(source)
  git(source, 'init', '-q', '-b', 'main')
  writeFileSync(join(source, 'a.txt'), 'one\n')
  git(source, 'add', '.')
  git(source, 'commit', '-qm', 'first')
  git(dir, 'clone', '-q', '--bare', source, 'repo.git')
  git(join(dir, 'repo.git'), 'update-server-info')
  server = createServer((request, response) => {
    const auth = request.headers.authorization
    if (auth === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return
    }
    seenAuth.push(Buffer.from(auth.replace('Basic ', ''), 'base64').toString())
    try {
      response.end(readFileSync(join(dir, new URL(request.url ?? '', 'http://x').pathname)))
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

async function open(): Promise<{ handle: SandboxHandle; root: string; lines: string[] }> {
  const root = mkdtempSync(join(dir, 'work-'))
  const lines: string[] = []
  const handle = await defineSandboxProvider(stubBackend(localShellHandle(root, lines))).create({})
  return { handle, root, lines }
}

test('a repository that asks for a password fails at once instead of prompting', async () => {
  const { handle } = await open()
  await expect(handle.git.clone({ url: `${origin}/repo.git`, dir: 'r' })).rejects.toMatchObject({
    code: 'GIT_FAILED',
    details: { command: 'clone', exitCode: 128 },
  })
})

test('a token reaches the server and stands in no command line, configuration or error', async () => {
  const { handle, root, lines } = await open()
  const auth = { username: 'bot', token: TOKEN }
  await handle.git.clone({ url: `${origin}/repo.git`, dir: 'r', auth, depth: 'full' })
  expect(seenAuth).toContain(`bot:${TOKEN}`)
  expect(readFileSync(join(root, 'r/a.txt'), 'utf8')).toBe('one\n')
  expect(readFileSync(join(root, 'r/.git/config'), 'utf8')).not.toContain('s3cret')
  expect(lines.join('\n')).not.toContain('s3cret')
  await handle.git.pull('r')
  const failure: unknown = await handle.git
    .clone({ url: `${origin}/none.git`, auth, dir: 'n' })
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'GIT_FAILED' })
  expect(JSON.stringify(failure) + String(failure)).not.toContain('s3cret')
})

test('credentials in a URL are taken out of it', async () => {
  const { handle, root, lines } = await open()
  await handle.git.clone({ url: `${origin.replace('//', '//me:pass-word-1@')}/repo.git`, dir: 'r', depth: 'full' })
  expect(seenAuth).toContain('me:pass-word-1')
  expect(readFileSync(join(root, 'r/.git/config'), 'utf8')).not.toContain('pass-word-1')
  expect(lines.join('\n')).not.toContain('pass-word-1')
})

test('a token for a URL that is not http is refused', async () => {
  const { handle, lines } = await open()
  const clone = handle.git.clone({ url: 'git@example.com:a/b.git', auth: { token: 'x' } })
  await expect(clone).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(lines).toEqual([])
})

test('git is told not to ask, a variable of the caller wins, and its values stay out of the error', async () => {
  const calls: Call[] = []
  const answers = { exec: () => ({ stdout: '', stderr: 'fatal: caller-value-1 https://u:p@h/x', exitCode: 3 }) }
  const handle = await defineSandboxProvider(stubBackend(stubHandle(calls, answers))).create({})
  await handle.env.set({ GIT_ASKPASS: 'my-askpass', SECRET: 'caller-value-1' })
  const failure: unknown = await handle.git.push().catch((error: unknown) => error)
  expect(calls[0]?.args[1]).toMatchObject({ env: { GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: 'my-askpass' } })
  expect(failure).toMatchObject({ code: 'GIT_FAILED', details: { exitCode: 3, stderr: 'fatal: *** https://***@h/x' } })
})

test('status, add, commit and branch work in a repository without a configured author', async () => {
  const { handle, root } = await open()
  git(root, 'init', '-q', '-b', 'topic')
  expect(await handle.git.branch()).toBe('topic')
  writeFileSync(join(root, `it's -n.txt`), 'x')
  expect(await handle.git.status()).toContain('??')
  await handle.git.add([`/workspace/it's -n.txt`])
  await handle.git.commit(`- say "hi" $(id)\n\nbody`)
  expect(await handle.git.status()).toBe('')
  expect(git(root, 'log', '-1', '--format=%B|%an')).toContain(`- say "hi" $(id)\n\nbody`)
  await expect(handle.git.commit('nothing')).rejects.toMatchObject({ code: 'GIT_FAILED', details: { exitCode: 1 } })
})

test('a commit can be cloned by its hash', async () => {
  const { handle, root } = await open()
  const source = join(dir, 'source')
  const hash = git(source, 'rev-parse', 'HEAD').trim()
  await handle.git.clone({ url: `file://${source}`, ref: hash, dir: 'r' })
  expect(git(join(root, 'r'), 'rev-parse', 'HEAD').trim()).toBe(hash)
  expect(await handle.git.branch('r')).toBe('HEAD')
})
