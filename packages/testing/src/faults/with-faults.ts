import type { SandboxBackend, SandboxBackendHandle } from '@holdfast/core'
import type { FaultPlan } from './fault-plan.ts'
import { faultyHandle } from './faulty-handle.ts'

/** The same backend, whose calls and handles go wrong as the plan says. */
export function withFaults(backend: SandboxBackend, plan: FaultPlan): SandboxBackend {
  const wrap = (handle: SandboxBackendHandle): SandboxBackendHandle => faultyHandle(handle, plan)
  const faulty: SandboxBackend = {
    name: backend.name,
    capabilities: () => backend.capabilities(),
    create: (input) =>
      plan.run({ on: 'create', signal: input.signal, work: async () => wrap(await backend.create(input)) }),
    resume: (input) =>
      plan.run({
        on: 'resume',
        signal: input.signal,
        work: async () => {
          const handle = await backend.resume(input)
          return handle === null ? null : wrap(handle)
        },
      }),
    destroy: (input) => plan.run({ on: 'destroy', signal: input.signal, work: () => backend.destroy(input) }),
  }
  addExtras(faulty, backend, plan)
  const { restoreSnapshot } = backend
  if (restoreSnapshot !== undefined) {
    faulty.restoreSnapshot = (input) =>
      plan.run({
        on: 'restoreSnapshot',
        signal: input.signal,
        work: async () => wrap(await restoreSnapshot.call(backend, input)),
      })
  }
  return faulty
}

function addExtras(faulty: SandboxBackend, backend: SandboxBackend, plan: FaultPlan): void {
  const { list, park, probe, templates, close, mapError } = backend
  if (list !== undefined) {
    faulty.list = (input) => plan.run({ on: 'list', signal: input.signal, work: () => list.call(backend, input) })
  }
  if (park !== undefined) {
    faulty.park = (input) => plan.run({ on: 'park', signal: input.signal, work: () => park.call(backend, input) })
  }
  if (probe !== undefined) {
    faulty.probe = (input) => plan.run({ on: 'probe', signal: input?.signal, work: () => probe.call(backend, input) })
  }
  if (templates !== undefined) Object.assign(faulty, { templates })
  if (close !== undefined) faulty.close = () => close.call(backend)
  if (mapError !== undefined) faulty.mapError = (error, operation) => mapError.call(backend, error, operation)
}
