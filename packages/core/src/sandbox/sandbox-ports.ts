/** How to reach a port from outside. `token` and `headers` are secrets of this sandbox; `url` has none. */
export interface SandboxChannel {
  url: string
  token?: string
  headers?: Record<string, string>
}

/** Ports of programs in the sandbox, from outside. */
export interface SandboxPorts {
  /** `INVALID_ARGUMENT` outside 1 … 65535. Says nothing about whether something listens. Repeatable. */
  connect: (port: number) => Promise<SandboxChannel>
}

/** Variables for commands that start later. */
export interface SandboxEnv {
  /** Variables for every later command. A bad name is `INVALID_ENV_NAME`, and then none is set. Repeatable. */
  set: (vars: Record<string, string>) => Promise<void>
}
