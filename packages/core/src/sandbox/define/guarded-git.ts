import type { SandboxGit } from '../sandbox-git.ts'
import type { HandleScope } from './handle-scope.ts'

/** A backend's own git, with real directories and failures mapped. */
export function guardedGit(scope: HandleScope, git: SandboxGit): SandboxGit {
  const call = <T>(operation: string, run: () => Promise<T>): Promise<T> =>
    scope.call(`git.${operation}`, undefined, run)
  return {
    clone: (input) => call('clone', () => git.clone({ ...input, dir: scope.path(input.dir) })),
    status: (dir) => call('status', () => git.status(scope.path(dir))),
    add: (paths, dir) => call('add', () => git.add(paths, scope.path(dir))),
    commit: (message, dir) => call('commit', () => git.commit(message, scope.path(dir))),
    push: (dir) => call('push', () => git.push(scope.path(dir))),
    pull: (dir) => call('pull', () => git.pull(scope.path(dir))),
    branch: (dir) => call('branch', () => git.branch(scope.path(dir))),
  }
}
