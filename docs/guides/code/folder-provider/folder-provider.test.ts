import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { providerTarget } from '@holdfast/testing'
import { describeProvider } from '@holdfast/testing/vitest'
import { folderProvider } from './folder-provider.ts'

describeProvider(
  providerTarget({
    name: 'folderProvider',
    capabilities: folderProvider('unused').capabilities(),
    open: async () => {
      const root = await mkdtemp(join(tmpdir(), 'folder-provider-'))
      return {
        provider: folderProvider(root),
        connect: async () => folderProvider(root),
        dispose: () => rm(root, { recursive: true, force: true }),
      }
    },
    lacks: {
      liveOutput: 'Output is read when the command has ended.',
      faults: 'There is no service between us and the folders.',
      httpServer: 'Folders have no ports.',
      park: 'A folder that rests costs nothing.',
      probe: 'There is no service to ask.',
      watch: 'Changes are found by looking.',
      confinedLinks: 'File calls follow links, as commands do.',
    },
  }),
)
