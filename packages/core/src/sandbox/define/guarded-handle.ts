import type { SandboxHandle } from '../sandbox-handle.ts'
import { execGit } from './exec-git.ts'
import { guardedFs } from './guarded-fs.ts'
import { guardedGit } from './guarded-git.ts'
import { guardedAccess, guardedArchive, guardedEnv, guardedPorts, guardedTerminals } from './guarded-groups.ts'
import { guardedProcess } from './guarded-process.ts'
import { HandleScope } from './handle-scope.ts'
import type { HandleScopeInput } from './handle-scope.ts'

/** The public handle around an author's one. An optional group is there when the backend has it and declares it. */
export function guardedHandle(input: HandleScopeInput): SandboxHandle {
  const scope = new HandleScope(input)
  const { backend, capabilities, provider } = input
  return {
    id: backend.id,
    provider,
    workspaceRoot: backend.workspaceRoot,
    capabilities,
    fs: guardedFs(scope),
    process: guardedProcess(scope),
    git: backend.git === undefined ? execGit(scope) : guardedGit(scope, backend.git),
    ports: guardedPorts(scope),
    env: guardedEnv(scope),
    ...optionalGroups(scope),
    ...optionalCalls(scope, input),
    destroy: () => scope.destroy(),
  }
}

function optionalGroups(scope: HandleScope): Pick<SandboxHandle, 'archive' | 'terminal' | 'access'> {
  const { backend, capabilities } = scope
  const hasArchive = capabilities.archive === true && backend.archive !== undefined
  const hasTerminal = capabilities.terminal === true && backend.terminal !== undefined
  const hasAccess = capabilities.access === true && backend.access !== undefined
  return {
    ...(hasArchive ? { archive: guardedArchive(scope, backend.archive) } : {}),
    ...(hasTerminal ? { terminal: guardedTerminals(scope, backend.terminal) } : {}),
    ...(hasAccess ? { access: guardedAccess(scope, backend.access) } : {}),
  }
}

type OptionalCalls = Pick<SandboxHandle, 'snapshot' | 'fork' | 'refreshActivity'>

function optionalCalls(scope: HandleScope, input: HandleScopeInput): OptionalCalls {
  const { backend, capabilities } = scope
  const { snapshot, fork, refreshActivity } = backend
  const calls: OptionalCalls = {}
  if (capabilities.snapshots && snapshot !== undefined) {
    calls.snapshot = (label) => scope.call('snapshot', undefined, () => snapshot.call(backend, label))
  }
  if (capabilities.fork && fork !== undefined) {
    calls.fork = () =>
      scope.call('fork', undefined, async () =>
        guardedHandle({ ...input, env: scope.env(), backend: await fork.call(backend) }),
      )
  }
  if (refreshActivity !== undefined) {
    calls.refreshActivity = () => scope.call('refreshActivity', undefined, () => refreshActivity.call(backend))
  }
  return calls
}
