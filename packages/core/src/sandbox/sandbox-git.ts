/** `token` is a secret: it is never written to `.git/config`, a command line or an error. */
export interface SandboxGitAuth {
  username?: string
  token: string
}

/** What is cloned, and to where. */
export interface SandboxGitCloneInput {
  url: string
  /** Where to put the clone; the workspace root when left out. */
  dir?: string
  ref?: string
  auth?: SandboxGitAuth
  /** Number of commits, or all of them. Default 1. */
  depth?: number | 'full'
}

/** Git in the sandbox. It never prompts. A non-zero exit is `GIT_FAILED` with the exit code in `details`. */
export interface SandboxGit {
  clone: (input: SandboxGitCloneInput) => Promise<void>
  /** Output of `git status --porcelain`. */
  status: (dir?: string) => Promise<string>
  add: (paths: string[], dir?: string) => Promise<void>
  commit: (message: string, dir?: string) => Promise<void>
  push: (dir?: string) => Promise<void>
  pull: (dir?: string) => Promise<void>
  /** Name of the current branch. */
  branch: (dir?: string) => Promise<string>
}
