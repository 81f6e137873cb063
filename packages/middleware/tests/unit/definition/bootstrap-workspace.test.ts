import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isHoldfastError } from '@holdfast/core'
import type { HoldfastErrorLike, SandboxHandle } from '@holdfast/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import type { WorkspaceOptions } from '../../../src/definition/define-workspace.ts'
import type { SandboxProgress } from '../../../src/definition/ensure-context.ts'
import { gitSource, localSource } from '../../../src/definition/workspace-source.ts'
import { bearer } from '../../../src/secrets/bearer-secret.ts'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'
import { sandboxFixture } from '../../fixtures/sandbox-fixture.ts'

async function bootstrap(files: WorkspaceOptions, onProgress?: (p: SandboxProgress) => void): Promise<SandboxHandle> {
  const { provider, context } = await sandboxFixture()
  const sandbox = defineSandbox({ id: 'app', provider, workspace: defineWorkspace(files) })
  return sandbox.ensure({ ...context, ...(onProgress && { onProgress }) })
}

async function failureOf(files: WorkspaceOptions): Promise<HoldfastErrorLike> {
  try {
    await bootstrap(files)
  } catch (error) {
    if (isHoldfastError(error)) return error
    throw error
  }
  throw new Error('The bootstrap was expected to fail.')
}

async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-source-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

describe('setup that fails', () => {
  it('names the command, its place and its exit code, and carries the end of its output', async () => {
    const error = await failureOf({ setup: ['true', 'echo broken >&2; exit 3', 'touch never'] })
    expect(error.code).toBe('SETUP_FAILED')
    expect(error.details).toMatchObject({ command: 'echo broken >&2; exit 3', exitCode: 3, index: 1 })
    expect(error.message).toContain('broken')
  })

  it('stops at the first command that fails', async () => {
    expect((await failureOf({ setup: ['true', 'false', 'exit 4'] })).details).toMatchObject({ index: 1, exitCode: 1 })
  })

  it('counts a syntax error against its own command', async () => {
    expect((await failureOf({ setup: ['true', 'if then ('] })).details).toMatchObject({
      index: 1,
      command: 'if then (',
    })
  })

  it('counts a command that ends the shell early with success as failed', async () => {
    expect((await failureOf({ setup: ['exit 0', 'touch never'] })).details).toMatchObject({ index: 0, exitCode: 0 })
  })

  it('names the first parallel command that failed, after all have ended', async () => {
    const error = await failureOf({ setup: (b) => b.serial('true').parallel(['true', 'exit 5', 'exit 6']) })
    expect(error.details).toMatchObject({ command: 'exit 5', exitCode: 5, index: 2 })
  })

  it('keeps registered secrets out of the error, plain and encoded', async () => {
    const secrets = createSecrets({ TOKEN: 's3cr3t-value-42' })
    const error = await failureOf({ secrets, setup: ['echo "$TOKEN"; printf %s "$TOKEN" | base64 >&2; exit 1'] })
    expect(`${error.message}${JSON.stringify(error.details)}`).not.toMatch(/s3cr3t-value-42|czNjcjN0LXZhbHVlLTQy/)
  })
})

describe('setup', () => {
  it('runs on one shell: directory and variables last from command to command', async () => {
    const handle = await bootstrap({
      setup: (b) =>
        b
          .serial('mkdir sub && cd sub')
          .serial('export GREETING="it\'s # fine" # a comment')
          .parallel(['echo "$GREETING" > a', 'pwd > b'])
          .serial('cat > c <<X\n$GREETING\nX'),
    })
    expect(await handle.fs.read('sub/a')).toBe("it's # fine\n")
    expect(await handle.fs.read('sub/b')).toMatch(/\/sub\n$/)
    expect(await handle.fs.read('sub/c')).toBe("it's # fine\n")
  })

  it('sees the secrets, which stand in no file of the workspace', async () => {
    const secrets = createSecrets({ TOKEN: 's3cr3t-value-42' })
    const skill = {
      type: 'mcp',
      name: 'tracker',
      url: 'https://mcp.example/x',
      headers: { Authorization: bearer(secrets.TOKEN) },
    } as const
    const handle = await bootstrap({ secrets, setup: ['[ "${#TOKEN}" = 15 ] && touch seen'], skills: [skill] })
    expect(await handle.fs.exists('seen')).toBe(true)
    const { stdout } = await handle.process.exec(
      'grep -r s3cr3t . ; ps -eo args | grep s3cr3t-value | grep -v grep; true',
    )
    expect(stdout).toBe('')
    expect(await handle.fs.read('.mcp.json')).toContain('"Bearer ${TOKEN}"')
  })

  it('tells how far it is, and a callback that throws changes nothing', async () => {
    const phases: string[] = []
    await bootstrap({ setup: ['true'], instructions: 'Be kind.' }, ({ phase }) => {
      phases.push(phase)
      throw new Error('viewer is gone')
    })
    expect(phases).toEqual(['creating', 'setup', 'projecting', 'ready'])
  })
})

describe('a git source', () => {
  it('is cloned into the workspace root, and instructions follow what the repository says', async () => {
    const dir = await temporaryDir()
    await writeFile(join(dir, 'AGENTS.md'), 'Use tabs.\n')
    const git = (...args: string[]) =>
      promisify(execFile)('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: dir })
    await git('init', '-q')
    await git('add', '.')
    await git('commit', '-qm', 'first')
    const handle = await bootstrap({ source: gitSource({ url: `file://${dir}` }), instructions: 'Be kind.' })
    expect(await handle.fs.read('AGENTS.md')).toMatch(/^Use tabs\.\n\n<!--.*\nBe kind\.\n/)
    expect(await handle.git.status()).not.toContain('.holdfast')
  })

  it('that cannot be cloned fails with GIT_FAILED', async () => {
    const error = await failureOf({ source: gitSource({ url: `file://${await temporaryDir()}/missing` }) })
    expect(error.code).toBe('GIT_FAILED')
  })
})

describe('a local source', () => {
  it('is copied with modes, links that stay inside, empty directories and odd names', async () => {
    const dir = await temporaryDir()
    await mkdir(join(dir, 'node_modules/x'), { recursive: true })
    await mkdir(join(dir, 'sub/empty'), { recursive: true })
    await writeFile(join(dir, "sub/it's ü.bin"), Uint8Array.from([0, 255, 10]))
    await writeFile(join(dir, 'run.sh'), '#!/bin/sh\necho ran\n')
    await chmod(join(dir, 'run.sh'), 0o755)
    await symlink('../run.sh', join(dir, 'sub/link'))
    await symlink('/etc/passwd', join(dir, 'outside'))
    await symlink('../../up', join(dir, 'sub/up'))
    const handle = await bootstrap({ source: localSource(dir) })
    expect(await handle.fs.readBytes("sub/it's ü.bin")).toEqual(Uint8Array.from([0, 255, 10]))
    expect((await handle.process.exec('./run.sh; ./sub/link; ls -a . sub')).stdout.split('\n').filter(Boolean)).toEqual(
      [
        'ran',
        'ran',
        '.:',
        '.',
        '..',
        '.holdfast',
        'run.sh',
        'sub',
        '',
        'sub:',
        '.',
        '..',
        'empty',
        "it's ü.bin",
        'link',
      ].filter(Boolean),
    )
  })

  it('that is no directory fails with INVALID_CONFIGURATION and leaves nothing', async () => {
    expect((await failureOf({ source: localSource('/nowhere/at/all') })).code).toBe('INVALID_CONFIGURATION')
  })
})

describe('projections', () => {
  it('writes scripts as programs, skills where agents look, and the marker last', async () => {
    const handle = await bootstrap({
      scripts: { greet: 'echo hello' },
      skills: [
        { type: 'file', path: 'docs/style.md', content: 'short' },
        { type: 'agent-skill', name: 'review', content: '# Review' },
      ],
      instructions: 'Be kind.',
    })
    expect((await handle.process.exec('.holdfast/bin/greet')).stdout).toBe('hello\n')
    expect(await handle.fs.read('docs/style.md')).toBe('short')
    expect(await handle.fs.read('.agents/skills/review/SKILL.md')).toBe('# Review')
    expect(await handle.fs.read('.claude/skills/review/SKILL.md')).toBe('# Review')
    expect(await handle.fs.read('CLAUDE.md')).toBe('@AGENTS.md\n')
    expect(JSON.parse(await handle.fs.read('.holdfast/marker.json'))).toHaveProperty('workspaceHash')
  })
})
