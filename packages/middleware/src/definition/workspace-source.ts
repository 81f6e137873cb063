import { InvalidInputError } from '@holdfast/core'
import type { WorkspaceGitSource, WorkspaceLocalSource, WorkspaceSource } from '@holdfast/core'

/** Files of a git repository. */
export function gitSource(options: Omit<WorkspaceGitSource, 'type'>): WorkspaceGitSource {
  const source: WorkspaceGitSource = { type: 'git', ...options }
  assertGitUrl(source.url)
  if (source.ref?.startsWith('-') === true) throw invalid('source.ref must not begin with "-".')
  if (source.depth !== undefined && source.depth !== 'full' && !(Number.isInteger(source.depth) && source.depth > 0)) {
    throw invalid('source.depth must be a whole number above 0, or "full".')
  }
  return source
}

const GITHUB_NAME = /^[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9._-]+$/

/** A repository on GitHub by `owner/name`. */
export function githubRepo(
  repository: string,
  options: Omit<WorkspaceGitSource, 'type' | 'url'> = {},
): WorkspaceGitSource {
  if (!GITHUB_NAME.test(repository)) throw invalid(`githubRepo needs "owner/name"; got ${JSON.stringify(repository)}.`)
  return gitSource({ url: `https://github.com/${repository}.git`, ...options })
}

/** Files of a directory on the host, copied when the sandbox is made. `node_modules` and `.holdfast` stay behind. */
export function localSource(path: string): WorkspaceLocalSource {
  const source: WorkspaceLocalSource = { type: 'local', path }
  assertSource(source)
  return source
}

/** `INVALID_CONFIGURATION` for a source that could not work, or that would carry a credential in its URL. */
export function assertSource(source: WorkspaceSource): void {
  switch (source.type) {
    case 'none':
      return
    case 'local':
      if (typeof source.path !== 'string' || source.path === '' || source.path.includes('\0')) {
        throw invalid('source.path must be a directory on the host.')
      }
      return
    case 'git':
      gitSource(source)
      return
    default:
      throw invalid('source.type must be "git", "local" or "none".')
  }
}

const SCP_LIKE = /^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^:]/
const GIT_PROTOCOLS: ReadonlySet<string> = new Set(['https:', 'http:', 'ssh:', 'git:', 'file:'])

/** Refuses what git would read as an option or as a command to run (`ext::`). */
export function assertGitUrl(url: unknown): void {
  if (typeof url !== 'string' || url === '') throw invalid('A git URL must be a string.')
  if (SCP_LIKE.test(url)) return
  if (url.startsWith('/')) return
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !GIT_PROTOCOLS.has(parsed.protocol)) {
    throw invalid('A git URL must be an https, ssh, git or file URL, or "user@host:path".')
  }
  if (parsed.password !== '' || (parsed.username !== '' && parsed.protocol.startsWith('http'))) {
    throw invalid('A git URL must not carry a credential; pass it as source.auth with a secret.')
  }
}

function invalid(message: string): InvalidInputError {
  return new InvalidInputError('INVALID_CONFIGURATION', message)
}
