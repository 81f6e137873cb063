import { shellCommand } from '@holdfast/core/provider-kit'
import type { SandboxHandle } from '@holdfast/core'
import type { DefinitionLogger } from '../definition/definition-logger.ts'
import { MAX_DIFFED_BYTES } from './unified-diff.ts'

const GIT_TIMEOUT_MS = 20_000
const COMMIT = /^[0-9a-f]{40,64}$/

/** The commit that a run's changes are compared with. */
export interface GitBaseline {
  readonly commit: string
  /** A file's content in the commit; empty when it is not in there, undefined when it cannot be told. */
  readonly show: (path: string) => Promise<string | undefined>
}

/** The commit that `root` stands at, or null: without a repository, or when git cannot be asked (which is logged). */
export async function findGitBaseline(
  handle: SandboxHandle,
  root: string,
  logger: DefinitionLogger,
): Promise<GitBaseline | null> {
  const git = (...args: string[]): ReturnType<SandboxHandle['process']['exec']> =>
    handle.process.exec(shellCommand(['git', '-c', 'safe.directory=*', '--no-optional-locks', ...args]), {
      cwd: root,
      timeoutMs: GIT_TIMEOUT_MS,
      maxOutputBytes: MAX_DIFFED_BYTES,
    })
  try {
    const { exitCode, stdout } = await git('rev-parse', '--verify', '--quiet', 'HEAD')
    const commit = stdout.trim()
    if (exitCode !== 0 || !COMMIT.test(commit)) return null
    return {
      commit,
      async show(path) {
        const shown = await git('show', `${commit}:./${path}`)
        if (shown.truncated === true || shown.timedOut === true) return undefined
        return shown.exitCode === 0 ? shown.stdout : ''
      },
    }
  } catch (error) {
    logger.warn('Git could not be asked for a baseline; diffs show whole files.', error)
    return null
  }
}
