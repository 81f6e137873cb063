import { defineChatMiddleware } from '@tanstack/ai'
import type { ChatMiddlewareContext, DefinedChatMiddleware } from '@tanstack/ai'
import { runSteps } from '../definition/run-steps.ts'
import type { Step } from '../definition/run-steps.ts'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import { toRunError } from '../runs/run-error.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import { withoutSecrets } from '../secrets/redacted-error.ts'
import { bindSandboxTools } from '../tools/bind-sandbox-tools.ts'
import { claimRun } from './claim-run.ts'
import { endSandbox } from './end-sandbox.ts'
import { SandboxCapability } from './sandbox-capabilities.ts'
import { durabilityOf } from './sandbox-durability.ts'
import { SandboxSession } from './sandbox-session.ts'
import { announceReady } from './steps/announce-ready.ts'
import { ensureSandbox } from './steps/ensure-sandbox.ts'
import { keepActive } from './steps/keep-active.ts'
import { listen } from './steps/listen.ts'
import { openCheckpoints } from './steps/open-checkpoints.ts'
import { provideCapabilities } from './steps/provide-capabilities.ts'
import { restoreCheckpoint } from './steps/restore-checkpoint.ts'
import { startCheckpoints } from './steps/start-checkpoints.ts'
import { watchFiles } from './steps/watch-files.ts'
import { toolBindingOf } from './tool-binding-of.ts'
import { sandboxPolicyHooks } from '../tools/sandbox-policy-hooks.ts'
import type { WithSandboxOptions } from './with-sandbox-options.ts'

/** The set-up of a sandbox, in order. A failure undoes the finished ones, newest first. */
const SETUP: readonly Step<SandboxSession>[] = [
  listen,
  openCheckpoints,
  ensureSandbox,
  keepActive,
  restoreCheckpoint,
  provideCapabilities,
  announceReady,
  watchFiles,
  startCheckpoints,
]

type SandboxMiddleware = DefinedChatMiddleware<unknown, readonly [], readonly [typeof SandboxCapability]>

type Hooks = ReturnType<typeof sandboxPolicyHooks>

/**
 * Gives a run its sandbox. Put it after `withPersistence`. Tools from `sandboxTools()` work on this run's own sandbox and
 * obey the definition's policy.
 */
export function withSandbox(definition: SandboxDefinition, options: WithSandboxOptions = {}): SandboxMiddleware {
  const log = durabilityOf(options)
  const sessions = new WeakMap<ChatMiddlewareContext, { session: SandboxSession; policy: Hooks }>()
  const policyOf = (ctx: ChatMiddlewareContext): Hooks | undefined => sessions.get(ctx)?.policy
  const end = async (ctx: ChatMiddlewareContext, outcome: RunOutcome): Promise<void> => {
    const session = sessions.get(ctx)?.session
    const run = session?.run?.session
    if (run === undefined) await session?.endOnce(outcome, endSandbox)
    else await run.runEndHandler('sandbox', run.stoppedOutcome() ?? run.settle(outcome))
  }
  const middleware = defineChatMiddleware({
    name: 'holdfast-sandbox',
    provides: [SandboxCapability],
    async setup(ctx) {
      const session = new SandboxSession({ ctx, definition, options, clock: log?.clock })
      if (log !== undefined) await claimRun(session, log)
      sessions.set(ctx, { session, policy: sandboxPolicyHooks(toolBindingOf(session)) })
      const { signal } = session
      // The engine logs what this fails with.
      await withoutSecrets(session.redactor, () => runSteps(SETUP, session, signal === undefined ? {} : { signal }))
    },
    onConfig(ctx, config) {
      const session = sessions.get(ctx)?.session
      if (session === undefined || ctx.phase !== 'init') return undefined
      return { tools: bindSandboxTools(config.tools, toolBindingOf(session)) as typeof config.tools }
    },
    onInterruptBoundary: (ctx) => policyOf(ctx)?.onInterruptBoundary?.(ctx),
    onInterruptResolution: (ctx, resolutions) => policyOf(ctx)?.onInterruptResolution?.(ctx, resolutions),
    onBeforeToolCall: (ctx, call) => policyOf(ctx)?.onBeforeToolCall?.(ctx, call),
    onChunk: (ctx, chunk) => sessions.get(ctx)?.session.onChunk(chunk),
    onFinish: (ctx, info) =>
      end(ctx, { status: 'completed', ...(info.usage === undefined ? {} : { usage: info.usage }) }),
    onError: (ctx, info) =>
      end(ctx, { status: 'failed', error: toRunError(info.error, sessions.get(ctx)?.session.redactor) }),
    onAbort: (ctx) => end(ctx, { status: 'aborted', keepSandbox: false }),
  })
  // `run.chat` registers the approval interrupt; a chat without it refuses what the policy asks about, so it is no type error.
  return middleware as unknown as SandboxMiddleware
}
