import type { SandboxArchive, SandboxBackendFs, SandboxBackendHandle, SandboxSpawnHandle } from '@holdfast/core'
import type { FaultPlan } from './fault-plan.ts'
import type { FaultOperation } from './fault-rule.ts'

/** The same sandbox, whose calls go wrong as the plan says. Its own `destroy` counts as the provider's. */
export function faultyHandle(handle: SandboxBackendHandle, plan: FaultPlan): SandboxBackendHandle {
  const { connectPort, archive, terminal, snapshot, fork, refreshActivity } = handle
  return {
    id: handle.id,
    workspaceRoot: handle.workspaceRoot,
    fs: faultyFs(handle.fs, plan),
    exec: (command, options) =>
      plan.run({
        on: 'exec',
        signal: options.signal,
        work: () => handle.exec(command, options),
        workWithoutOutput: async () => ({
          ...(await handle.exec(command, withoutCallbacks(options))),
          stdout: '',
          stderr: '',
        }),
      }),
    spawn: (command, options) =>
      plan.run({
        on: 'spawn',
        signal: options.signal,
        work: async () => faultySpawnHandle(await handle.spawn(command, options), plan),
        workWithoutOutput: async () => silent(faultySpawnHandle(await handle.spawn(command, options), plan)),
      }),
    destroy: () => plan.run({ on: 'destroy', work: () => handle.destroy() }),
    ...(handle.git === undefined ? {} : { git: handle.git }),
    ...(handle.access === undefined ? {} : { access: handle.access }),
    ...(archive === undefined ? {} : { archive: faultyArchive(archive, plan) }),
    ...(connectPort === undefined
      ? {}
      : { connectPort: (port) => plan.run({ on: 'ports.connect', work: () => connectPort.call(handle, port) }) }),
    ...(terminal === undefined
      ? {}
      : {
          terminal: {
            open: (options) =>
              plan.run({ on: 'terminal.open', signal: options?.signal, work: () => terminal.open(options) }),
          },
        }),
    ...(snapshot === undefined
      ? {}
      : { snapshot: (label) => plan.run({ on: 'snapshot', work: () => snapshot.call(handle, label) }) }),
    ...(fork === undefined
      ? {}
      : { fork: () => plan.run({ on: 'fork', work: async () => faultyHandle(await fork.call(handle), plan) }) }),
    ...(refreshActivity === undefined
      ? {}
      : { refreshActivity: () => plan.run({ on: 'refreshActivity', work: () => refreshActivity.call(handle) }) }),
  }
}

function faultyFs(fs: SandboxBackendFs, plan: FaultPlan): SandboxBackendFs {
  const on = <T>(name: FaultOperation, work: () => Promise<T>): Promise<T> => plan.run({ on: name, work })
  const faulty: SandboxBackendFs = {
    readBytes: (path) => on('fs.read', () => fs.readBytes(path)),
    write: (path, data) => on('fs.write', () => fs.write(path, data)),
    list: (path) => on('fs.list', () => fs.list(path)),
    mkdir: (path) => on('fs.mkdir', () => fs.mkdir(path)),
    remove: (path) => on('fs.remove', () => fs.remove(path)),
    rename: (from, to) => on('fs.rename', () => fs.rename(from, to)),
    exists: (path) => on('fs.exists', () => fs.exists(path)),
    lstat: (path) => on('fs.lstat', () => fs.lstat(path)),
  }
  const { readlink, symlink, chmod, watch } = fs
  if (readlink !== undefined) faulty.readlink = (path) => on('fs.readlink', () => readlink.call(fs, path))
  if (symlink !== undefined) {
    faulty.symlink = (target, path) => on('fs.symlink', () => symlink.call(fs, target, path))
  }
  if (chmod !== undefined) faulty.chmod = (path, mode) => on('fs.chmod', () => chmod.call(fs, path, mode))
  if (watch !== undefined) faulty.watch = (path, onEvent) => on('fs.watch', () => watch.call(fs, path, onEvent))
  return faulty
}

function faultyArchive(archive: SandboxArchive, plan: FaultPlan): SandboxArchive {
  return {
    pack: (paths, options) =>
      plan.run({ on: 'archive.pack', signal: options?.signal, work: () => archive.pack(paths, options) }),
    unpack: (stream, options) =>
      plan.run({ on: 'archive.unpack', signal: options?.signal, work: () => archive.unpack(stream, options) }),
  }
}

function faultySpawnHandle(handle: SandboxSpawnHandle, plan: FaultPlan): SandboxSpawnHandle {
  return {
    pid: handle.pid,
    stdout: handle.stdout,
    stderr: handle.stderr,
    stdin: {
      write: (data) => plan.run({ on: 'stdin.write', work: () => handle.stdin.write(data) }),
      end: () => handle.stdin.end(),
    },
    wait: () => plan.run({ on: 'wait', work: () => handle.wait() }),
    kill: (signal) => plan.run({ on: 'kill', work: () => handle.kill(signal) }),
  }
}

function withoutCallbacks<T extends object>(options: T): T {
  return { ...options, onStdout: () => undefined, onStderr: () => undefined }
}

/** The process runs on; what it prints is gone. */
function silent(handle: SandboxSpawnHandle): SandboxSpawnHandle {
  return { ...handle, stdout: nothing(), stderr: nothing() }
}

async function* nothing(): AsyncGenerator<string, void, undefined> {
  // Yields no item.
}
