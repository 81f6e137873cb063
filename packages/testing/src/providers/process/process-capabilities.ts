import type { SandboxCapabilities } from '@holdfast/core'

/** What processes and directories of this machine can do. */
export function processCapabilities(isPersistent: boolean): SandboxCapabilities {
  const findsEveryProcess = process.platform === 'linux'
  return {
    fs: true,
    exec: true,
    env: true,
    ports: true,
    backgroundProcesses: true,
    writableStdin: true,
    killableProcesses: findsEveryProcess,
    snapshots: true,
    networkPolicy: false,
    durableFilesystem: isPersistent,
    fork: true,
    archive: true,
    terminal: true,
    access: false,
    symlinks: true,
    unsupported: {
      networkPolicy: 'Commands share the network of the host.',
      access: 'A local directory needs no remote shell.',
      ...(findsEveryProcess ? {} : { killableProcesses: 'Only Linux shows which processes came from a command.' }),
      ...(isPersistent
        ? {}
        : { durableFilesystem: 'Without `dir`, only the provider object that made a sandbox finds it.' }),
    },
  }
}
