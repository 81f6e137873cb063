import type { SandboxBackend, SandboxBackendHandle, SandboxCapabilities } from '../../src/index.ts'

export const ROOT = '/real/root'

export const ALL_CAPABILITIES: SandboxCapabilities = {
  fs: true,
  exec: true,
  env: true,
  ports: true,
  backgroundProcesses: true,
  writableStdin: true,
  killableProcesses: true,
  snapshots: true,
  networkPolicy: true,
  durableFilesystem: true,
  fork: true,
  archive: true,
  terminal: true,
  access: true,
  symlinks: true,
}

export interface Call {
  name: string
  args: unknown[]
}

const refuse = (): never => {
  throw new Error('the stub has no answer for this call')
}

/** A handle that notes what it is asked, and answers what `answers` says. */
export function stubHandle(
  calls: Call[],
  answers: { [name: string]: (...args: never[]) => unknown } = {},
): SandboxBackendHandle {
  const method =
    (name: string) =>
    async (...args: unknown[]): Promise<never> => {
      calls.push({ name, args })
      const answer = answers[name] ?? refuse
      return (await (answer as (...args: unknown[]) => unknown)(...args)) as never
    }
  const names = [
    'readBytes',
    'write',
    'list',
    'mkdir',
    'remove',
    'rename',
    'exists',
    'lstat',
    'readlink',
    'symlink',
    'chmod',
  ]
  return {
    id: 'box-1',
    workspaceRoot: ROOT,
    fs: Object.fromEntries(names.map((name) => [name, method(name)])) as unknown as SandboxBackendHandle['fs'],
    exec: method('exec'),
    spawn: method('spawn'),
    connectPort: method('connectPort'),
    archive: { pack: method('pack'), unpack: method('unpack') },
    terminal: { open: method('open') },
    access: { grant: method('grant'), revoke: method('revoke') },
    snapshot: method('snapshot'),
    fork: method('fork'),
    refreshActivity: method('refreshActivity'),
    destroy: method('destroy'),
  }
}

export function stubBackend(handle: SandboxBackendHandle, overrides: Partial<SandboxBackend> = {}): SandboxBackend {
  return {
    name: 'stub',
    capabilities: () => ALL_CAPABILITIES,
    create: () => Promise.resolve(handle),
    resume: () => Promise.resolve(handle),
    destroy: () => Promise.resolve(),
    ...overrides,
  }
}
