import type { SandboxCapabilities } from '@holdfast/core'

/** What folders can do, and for the rest why not. */
export const CAPABILITIES: SandboxCapabilities = {
  fs: true,
  exec: true,
  env: true,
  durableFilesystem: true,
  symlinks: true,
  killableProcesses: false,
  backgroundProcesses: false,
  writableStdin: false,
  ports: false,
  snapshots: false,
  networkPolicy: false,
  fork: false,
  unsupported: {
    killableProcesses: 'A process that leaves its group is not found again.',
    backgroundProcesses: 'A folder runs commands to their end.',
    writableStdin: 'A folder runs commands to their end.',
    ports: 'Folders have no network of their own.',
    snapshots: 'Folders are not copied.',
    networkPolicy: 'Folders have no network of their own.',
    fork: 'Folders are not copied.',
    archive: 'Files are read one by one.',
    terminal: 'A folder runs commands to their end.',
    access: 'A folder is on this machine.',
  },
}
