import type { SandboxCapabilities } from '@holdfast/core'

/** What files in memory and an interpreted shell can do. */
export function memoryCapabilities(): SandboxCapabilities {
  return {
    fs: true,
    exec: true,
    env: true,
    ports: false,
    backgroundProcesses: true,
    writableStdin: false,
    killableProcesses: true,
    snapshots: true,
    networkPolicy: false,
    durableFilesystem: false,
    fork: true,
    archive: true,
    terminal: false,
    access: false,
    symlinks: true,
    unsupported: {
      ports: 'Nothing can listen in memory.',
      writableStdin: 'The shell takes its whole input when a command starts.',
      networkPolicy: 'There is no network to restrict.',
      durableFilesystem: 'The files end with the host process.',
      terminal: 'The shell has no terminal.',
      access: 'There is no machine to log in to.',
    },
  }
}
