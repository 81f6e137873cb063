import { idFault } from '@holdfast/core'
import type { SandboxCapabilities, SandboxHandle, SandboxProvider } from '@holdfast/core'
import type { ConformanceTarget, SubjectLease } from './conformance-suite.ts'
import type { ProviderSubject, ProviderTrait } from './provider-subject.ts'

/** What one case is given. */
export interface OpenedProvider extends Omit<ProviderSubject, 'create'> {
  /** Lets go of what the provider needed, after its sandboxes were destroyed. */
  readonly dispose?: () => Promise<void>
}

/** The provider under test, and what it lacks. */
export interface ProviderTargetInput {
  name: string
  /** A provider on a service of its own, or on one shared by all cases. Called once per case. */
  open: () => OpenedProvider | Promise<OpenedProvider>
  /** The provider's manifest: what it declares false is left out, with its reason. */
  capabilities: SandboxCapabilities
  /** Why a trait is lacking, for each that is. */
  lacks?: { readonly [trait in ProviderTrait]?: string }
}

/** Makes a provider what the provider suite can be run against. */
export function providerTarget(input: ProviderTargetInput): ConformanceTarget<ProviderSubject> {
  const { capabilities, lacks = {} } = input
  const reasons: Readonly<Record<string, string | undefined>> = { ...lacks }
  return {
    name: input.name,
    open: async () => leaseOf(await input.open()),
    has: (need) => {
      if (Object.hasOwn(reasons, need)) return reasons[need] ?? ''
      const declared: unknown = Reflect.get(capabilities, need)
      if (declared === true || (declared === undefined && !isExtra(need))) return true
      return (Reflect.get(capabilities.unsupported ?? {}, need) as string | undefined) ?? ''
    },
  }
}

/** Capabilities that are false when they are absent. */
function isExtra(need: string): boolean {
  return ['archive', 'terminal', 'access', 'symlinks'].includes(need)
}

function leaseOf(opened: OpenedProvider): SubjectLease<ProviderSubject> {
  const { provider, connect, dispose = async () => undefined } = opened
  const madeIds = new Set<string>()
  const tracked = trackSandboxes(provider, madeIds)
  const subject: ProviderSubject = {
    ...opened,
    provider: tracked,
    create: (input = {}) => tracked.create(input),
    ...(connect === undefined ? {} : { connect: async () => trackSandboxes(await connect(), madeIds) }),
  }
  return {
    subject,
    dispose: async () => {
      await opened.faults?.setOutage(false)
      for (const id of madeIds) await provider.destroy({ id })
      await dispose()
    },
  }
}

/** The same provider, that notes the id of every sandbox it may have made. */
function trackSandboxes(provider: SandboxProvider, madeIds: Set<string>): SandboxProvider {
  const noted = (handle: SandboxHandle): SandboxHandle => {
    madeIds.add(handle.id)
    const { fork } = handle
    if (fork === undefined) return handle
    return { ...handle, fork: async () => noted(await fork()) }
  }
  const { restoreSnapshot } = provider
  return {
    ...provider,
    create: async (input) => {
      // Before the call: its answer may be lost.
      if (input.id !== undefined && idFault(input.id) === undefined) madeIds.add(input.id)
      return noted(await provider.create(input))
    },
    ...(restoreSnapshot === undefined ? {} : { restoreSnapshot: async (input) => noted(await restoreSnapshot(input)) }),
  }
}
