import { InvalidInputError, UnsupportedError } from '../../errors/error-classes.ts'
import { workspaceRelativePath } from '../../provider-kit/workspace-path.ts'
import type { SandboxAccess } from '../sandbox-access.ts'
import type { SandboxArchive } from '../sandbox-archive.ts'
import type { SandboxEnv, SandboxPorts } from '../sandbox-ports.ts'
import type { SandboxTerminalOptions, SandboxTerminals } from '../sandbox-terminal.ts'
import { guardedStream } from './guarded-call.ts'
import type { HandleScope } from './handle-scope.ts'

const MAX_PORT = 65_535

export function guardedPorts(scope: HandleScope): SandboxPorts {
  return {
    connect: (port) =>
      scope.call('ports.connect', undefined, () => {
        assertInteger('port', port, 1, MAX_PORT)
        scope.require('ports')
        const { connectPort } = scope.backend
        if (connectPort !== undefined) return connectPort.call(scope.backend, port)
        throw new UnsupportedError('CAPABILITY_UNSUPPORTED', `Provider ${scope.provider} cannot connect ports.`)
      }),
  }
}

export function guardedEnv(scope: HandleScope): SandboxEnv {
  return {
    set: (vars) =>
      scope.call('env.set', undefined, () => {
        scope.require('env')
        scope.setEnv(vars)
      }),
  }
}

export function guardedArchive(scope: HandleScope, archive: SandboxArchive): SandboxArchive {
  return {
    pack: (paths, options = {}) =>
      scope.call('archive.pack', options.signal, async () => {
        const names = paths.map((path) => workspaceRelativePath(scope.root, path))
        return guardedStream(await archive.pack(names, options), scope.toError('archive.pack', options.signal))
      }),
    unpack: (stream, options = {}) =>
      scope.call('archive.unpack', options.signal, () => archive.unpack(stream, options)),
  }
}

export function guardedTerminals(scope: HandleScope, terminals: SandboxTerminals): SandboxTerminals {
  return {
    open: (options = {}) =>
      scope.call('terminal.open', options.signal, () => {
        const { command, cols, rows } = options
        if (command !== undefined && (typeof command !== 'string' || command.includes('\0'))) {
          throw new InvalidInputError('INVALID_ARGUMENT', 'A command must be a string without NUL characters.')
        }
        for (const [name, size] of Object.entries({ cols, rows })) {
          if (size !== undefined) assertInteger(name, size, 1, MAX_PORT)
        }
        const complete: SandboxTerminalOptions = {
          ...options,
          cwd: scope.path(options.cwd),
          env: scope.env(options.env),
        }
        return terminals.open(complete)
      }),
  }
}

export function guardedAccess(scope: HandleScope, access: SandboxAccess): SandboxAccess {
  return {
    grant: (options = {}) =>
      scope.call('access.grant', undefined, () => {
        const { expiresInMs } = options
        if (expiresInMs !== undefined && !(Number.isFinite(expiresInMs) && expiresInMs > 0)) {
          throw new InvalidInputError('INVALID_ARGUMENT', 'expiresInMs must be a positive number of milliseconds.')
        }
        return access.grant(options)
      }),
    revoke: (accessId) => scope.call('access.revoke', undefined, () => access.revoke(accessId)),
  }
}

function assertInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw new InvalidInputError('INVALID_ARGUMENT', `${name} must be an integer, ${min} … ${max}.`)
}
