import { NotFoundError } from '@holdfast/core/provider-kit'
import type { SandboxBackend, SandboxListing } from '@holdfast/core'
import { daytonaHandle } from './daytona-handle.ts'
import { openSandboxService } from './lease/sandbox-service.ts'
import { strangerError } from './lease/stranger-error.ts'
import { callerLabels, templateName } from './naming.ts'
import type { NormalizedDaytonaOptions } from './options/daytona-options.ts'
import { listSandboxes } from './sandbox/list-sandboxes.ts'
import { probeService } from './sandbox/probe-service.ts'
import { deleteSnapshot, ensureSnapshotActive } from './sandbox/snapshots.ts'
import { captureTemplate } from './templates/capture-template.ts'

/** What the backend does, apart from what it is. */
export type DaytonaCalls = Required<
  Pick<
    SandboxBackend,
    'create' | 'resume' | 'restoreSnapshot' | 'destroy' | 'list' | 'park' | 'probe' | 'close' | 'templates'
  >
>

/** The calls of one provider. */
export async function openDaytonaCalls(options: NormalizedDaytonaOptions): Promise<DaytonaCalls> {
  const service = await openSandboxService(options)
  const { account } = service
  return {
    create: async (input) => {
      const { id, labels, adapterName, signal, policy } = input
      const isNetworkBlocked = policy?.capabilities?.network === 'deny'
      return daytonaHandle(service, await service.openNew({ key: id, labels, adapterName, isNetworkBlocked, signal }))
    },
    resume: async ({ id, signal }) => {
      const outcome = await service.resume({ sandboxId: id, signal })
      if (outcome.kind === 'stranger') throw strangerError(id)
      return outcome.kind === 'gone' ? null : daytonaHandle(service, outcome.live)
    },
    restoreSnapshot: async (input) => {
      const { id, labels, signal, policy, snapshotId } = input
      if (!(await ensureSnapshotActive(account, snapshotId, signal))) {
        throw new NotFoundError('SANDBOX_NOT_FOUND', `No snapshot has the id ${snapshotId}.`)
      }
      const isNetworkBlocked = policy?.capabilities?.network === 'deny'
      const live = await service.openNew({ key: id, labels, snapshot: snapshotId, isNetworkBlocked, signal })
      return daytonaHandle(service, live)
    },
    destroy: ({ id, signal }) => service.destroy(id, signal),
    list: async ({ labels, signal }): Promise<SandboxListing[]> => {
      const found = await listSandboxes(account, labels, signal)
      return found.map((listing) => ({ ...listing, labels: callerLabels(listing.labels) }))
    },
    park: ({ id, mode, signal }) => service.park(id, mode, signal),
    templates: {
      capture: async (sandboxId, name) => ({ ref: await captureTemplate(service, sandboxId, templateName(name)) }),
      delete: (ref) => deleteSnapshot(account, ref),
    },
    probe: (input) => probeService(service, input?.signal),
    close: () => service.close(),
  }
}
