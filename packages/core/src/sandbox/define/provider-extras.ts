import { assertId } from '../../identifier.ts'
import type { SandboxBackend } from '../sandbox-backend.ts'
import type { SandboxProvider, SandboxTemplates } from '../sandbox-provider.ts'
import { guardedCall } from './guarded-call.ts'
import type { MapError } from './guarded-call.ts'

type Extras = Pick<SandboxProvider, 'list' | 'park' | 'templates' | 'probe' | 'close'>

/** The optional abilities of a provider; each is there when its backend has it. */
export function providerExtras(backend: SandboxBackend, mapError: MapError): Extras {
  const { list, park, templates, probe, close } = backend
  return {
    ...(list === undefined
      ? {}
      : { list: (input) => guardedCall(mapError, 'list', input.signal, () => list.call(backend, input)) }),
    ...(park === undefined
      ? {}
      : {
          park: (input) =>
            guardedCall(mapError, 'park', input.signal, () => {
              assertId('id', input.id)
              return park.call(backend, input)
            }),
        }),
    ...(templates === undefined ? {} : { templates: guardedTemplates(templates, mapError) }),
    ...(probe === undefined ? {} : { probe: guardedProbe(backend, probe, mapError) }),
    ...(close === undefined
      ? {}
      : { close: () => guardedCall(mapError, 'close', undefined, () => close.call(backend)) }),
  }
}

/** A failure is an answer here, told by its mapped message; only an abort rejects. */
function guardedProbe(
  backend: SandboxBackend,
  probe: NonNullable<SandboxBackend['probe']>,
  mapError: MapError,
): NonNullable<SandboxProvider['probe']> {
  return async (input = {}) => {
    input.signal?.throwIfAborted()
    try {
      return await guardedCall(mapError, 'probe', input.signal, () => probe.call(backend, input))
    } catch (error) {
      input.signal?.throwIfAborted()
      return { ok: false, reason: error instanceof Error ? error.message : 'The probe failed.' }
    }
  }
}

function guardedTemplates(templates: SandboxTemplates, mapError: MapError): SandboxTemplates {
  return {
    capture: (sandboxId, name) =>
      guardedCall(mapError, 'templates.capture', undefined, () => {
        assertId('sandboxId', sandboxId)
        assertId('name', name)
        return templates.capture(sandboxId, name)
      }),
    delete: (ref) =>
      guardedCall(mapError, 'templates.delete', undefined, () => {
        assertId('ref', ref)
        return templates.delete(ref)
      }),
  }
}
