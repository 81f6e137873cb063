/** A name of a declared secret. The value is never reachable from it. */
export interface SecretRef {
  readonly secretName: string
}

/** Files of a git repository. */
export interface WorkspaceGitSource {
  type: 'git'
  url: string
  ref?: string
  auth?: { username?: string; token: SecretRef | string }
  depth?: number | 'full'
}

/** Files of a directory on the host. */
export interface WorkspaceLocalSource {
  type: 'local'
  path: string
}

/** An empty workspace. */
export interface WorkspaceNoSource {
  type: 'none'
}

/** Where the files of a new sandbox come from. */
export type WorkspaceSource = WorkspaceGitSource | WorkspaceLocalSource | WorkspaceNoSource

/** One setup step: a command, or commands that may run side by side. */
export type WorkspaceSetupStep = { type: 'serial'; command: string } | { type: 'parallel'; commands: readonly string[] }

/** Something the workspace brings for agents. */
export type WorkspaceSkill =
  | { type: 'file'; path: string; content: string }
  | { type: 'agent-skill'; name: string; content: string }
  | { type: 'mcp'; name: string; url: string; headers?: Readonly<Record<string, SecretRef | string>> }
  | { type: 'git'; url: string; ref?: string; dir?: string }

/** What a sandbox starts with. Plain data: it is hashed into the sandbox key, so it never holds a secret's value. */
export interface WorkspaceDefinition {
  source?: WorkspaceSource
  packageManager?: 'npm' | 'pnpm' | 'yarn' | 'bun'
  setup?: readonly WorkspaceSetupStep[]
  scripts?: Readonly<Record<string, string>>
  skills?: readonly WorkspaceSkill[]
  instructions?: string
  plugins?: readonly string[]
  /** Names only; the values stay with `createSecrets`. */
  secretNames?: readonly string[]
  /** Virtual root. Default `/workspace`. */
  root?: string
}
