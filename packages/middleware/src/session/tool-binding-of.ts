import type { SandboxToolBinding } from '../tools/sandbox-tool-binding.ts'
import type { SandboxSession } from './sandbox-session.ts'

/** What the run's tools may use of its sandbox. */
export function toolBindingOf(session: SandboxSession): SandboxToolBinding {
  const { definition, ctx, signal, redactor } = session
  return {
    handle: () => session.handle(),
    emit: (name, value, options) => ctx.emitCustomEvent(name, value, options),
    redactor,
    checkpoints: () => session.checkpoints,
    scripts: definition.workspace.scripts ?? {},
    ...(definition.policy === undefined ? {} : { policy: definition.policy }),
    ...(signal === undefined ? {} : { signal }),
  }
}
