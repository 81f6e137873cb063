import type { SandboxFs, SandboxHandle } from '@holdfast/core'
import type { ProviderMutant } from './provider-mutant.ts'

function withFs(
  change: (fs: SandboxFs, sandbox: SandboxHandle) => Partial<SandboxFs>,
): NonNullable<ProviderMutant['handle']> {
  return (good) => ({ fs: { ...good.fs, ...change(good.fs, good) } })
}

/** Providers whose files are wrong. */
export const FS_MUTANTS: readonly ProviderMutant[] = [
  {
    name: 'exists is false for any failure',
    base: 'memory',
    handle: withFs((fs) => ({ exists: (path) => fs.exists(path).catch(() => false) })),
    among: ['fs.exists', 'fs.path.', 'fs.links.', 'outage.', 'closed.'],
    detectedBy: [
      'closed.elsewhere',
      'closed.refuses',
      'fs.links.confined',
      'fs.links.loop',
      'fs.path.refused',
      'outage.files',
    ],
  },
  {
    name: 'write shows a part first',
    base: 'memory',
    handle: withFs((fs) => ({
      write: async (path, data) => {
        if (typeof data === 'string') await fs.write(path, data.slice(0, data.length / 2))
        await new Promise((resolve) => setImmediate(resolve))
        await fs.write(path, data)
      },
    })),
    among: ['fs.write.', 'fs.read.'],
    detectedBy: ['fs.write.is-atomic'],
  },
  {
    name: 'write leaves a temporary file',
    base: 'memory',
    handle: withFs((fs) => ({
      write: async (path, data) => {
        await fs.write(path, data)
        await fs.write('.temporary', data)
      },
    })),
    among: ['fs.write.'],
    detectedBy: ['fs.write.leaves-nothing'],
  },
  {
    name: 'write loses the mode',
    base: 'memory',
    handle: withFs((fs) => ({
      write: async (path, data) => {
        const stat = await fs.lstat?.(path)
        if (stat?.type === 'file') await fs.remove(path)
        await fs.write(path, data)
      },
    })),
    among: ['fs.write.', 'fs.read.', 'fs.lstat'],
    detectedBy: ['fs.write.is-atomic', 'fs.write.keeps-mode'],
  },
  {
    name: 'bytes go through text',
    base: 'memory',
    handle: withFs((fs) => ({ readBytes: async (path) => new TextEncoder().encode(await fs.read(path)) })),
    among: ['fs.read.', 'fs.write.'],
    detectedBy: ['fs.read.bytes'],
  },
  {
    name: 'a byte order mark is lost',
    base: 'memory',
    handle: withFs((fs) => ({ read: async (path) => new TextDecoder().decode(await fs.readBytes(path)) })),
    among: ['fs.read.', 'fs.write.'],
    detectedBy: ['fs.read.text'],
  },
  {
    name: 'names are trimmed',
    base: 'memory',
    handle: withFs((fs) => ({
      list: async (path) => {
        const entries = await fs.list(path)
        return entries.map((entry) => ({ ...entry, name: entry.name.trim(), path: entry.path.trim() }))
      },
    })),
    among: ['fs.list.', 'fs.path.'],
    detectedBy: ['fs.path.names'],
  },
  {
    name: 'hidden entries are not listed',
    base: 'memory',
    handle: withFs((fs) => ({
      list: async (path) => (await fs.list(path)).filter(({ name }) => !name.startsWith('.')),
    })),
    among: ['fs.list.', 'fs.path.'],
    detectedBy: ['fs.list.entries', 'fs.path.names'],
  },
  {
    name: 'lstat follows links',
    base: 'process',
    handle: withFs((fs, sandbox) => ({
      lstat: async (path) => {
        const stat = await fs.lstat?.(path)
        if (stat?.type !== 'symlink') return stat
        const { stdout, exitCode } = await sandbox.process.exec('stat -L -c "%f %F" -- "$P"', { env: { P: path } })
        if (exitCode !== 0) return undefined
        const mode = Number.parseInt(stdout, 16)
        return stdout.includes('directory') ? { type: 'dir', mode } : { type: 'file', mode, size: 0 }
      },
    })),
    among: ['fs.lstat', 'fs.exists', 'fs.remove'],
    detectedBy: ['fs.lstat.link'],
  },
  {
    name: 'remove of nothing is an error',
    base: 'memory',
    handle: withFs((fs) => ({
      remove: async (path) => {
        if (await fs.exists(path)) return fs.remove(path)
        await fs.readBytes(path)
      },
    })),
    among: ['fs.remove'],
    detectedBy: ['fs.remove.missing'],
  },
]
