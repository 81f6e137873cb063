import { isHoldfastError } from '@holdfast/core'
import type { ProviderMutant } from './provider-mutant.ts'

/** Providers whose sandboxes come and go wrongly, or whose manifest is. */
export const PROVIDER_MUTANTS: readonly ProviderMutant[] = [
  {
    name: 'a service out of reach reads as a sandbox that is gone',
    base: 'memory',
    provider: (good) => ({
      resume: (input) =>
        good.resume(input).catch((error: unknown) => (isHoldfastError(error) ? null : Promise.reject(error as Error))),
    }),
    among: ['resume.', 'outage.', 'create.'],
    detectedBy: ['outage.resume'],
  },
  {
    name: 'a sandbox is adopted whoever owns it',
    base: 'memory',
    provider: (good) => ({
      create: async (input) => {
        const existing = input.id === undefined ? null : await good.resume({ id: input.id }).catch(() => null)
        return existing ?? good.create(input)
      },
    }),
    among: ['create.', 'lost-reply.'],
    detectedBy: ['create.refuses-foreign'],
  },
  {
    name: 'create never adopts',
    base: 'memory',
    provider: (good) => ({
      create: async (input) => {
        const { id, ...withoutId } = input
        const isTaken = id !== undefined && (await good.resume({ id }).catch(() => null)) !== null
        return good.create(isTaken ? withoutId : input)
      },
    }),
    hangs: true,
    among: ['create.', 'lost-reply.', 'destroy.'],
    detectedBy: ['create.adopts', 'create.refuses-foreign', 'lost-reply.create'],
  },
  {
    name: 'destroy fails in silence',
    base: 'memory',
    provider: (good) => ({ destroy: (input) => good.destroy(input).catch(() => undefined) }),
    among: ['destroy.', 'outage.', 'closed.'],
    detectedBy: ['outage.destroy'],
  },
  {
    name: 'a destroyed handle goes on',
    base: 'memory',
    handle: (good) => ({ env: { set: async () => undefined }, destroy: () => good.destroy() }),
    among: ['closed.'],
    detectedBy: ['closed.refuses'],
  },
  {
    name: 'list ignores all labels but one',
    base: 'memory',
    provider: (good) => ({
      list: (input) =>
        (good.list as NonNullable<typeof good.list>)({
          labels: Object.fromEntries(Object.entries(input.labels).slice(0, 1)),
        }),
    }),
    hangs: true,
    among: ['list.'],
    detectedBy: ['list.by-labels'],
  },
  {
    name: 'a capability is false without a reason',
    base: 'memory',
    capabilities: (good) => ({ ...good, unsupported: { ...good.unsupported, ports: '' } }),
    among: ['manifest.', 'ports.'],
    detectedBy: ['manifest.gives-reasons', 'manifest.is-stable', 'ports.channel', 'ports.range', 'ports.reaches'],
  },
]
