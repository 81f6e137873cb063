import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DaytonaService } from '../daytona-service.ts'
import { copyTree } from './sandbox-roots.ts'
import type { SandboxRecord } from './sandbox-record.ts'

/**
 * Copies a sandbox's files as a named snapshot. A failure, a name that is taken included, leaves no trace: the sandbox
 * returns to its earlier state all the same, and a success shows a moment after that [A190].
 */
export async function saveSnapshot(
  service: DaytonaService,
  record: SandboxRecord,
  name: string,
  root: string,
): Promise<void> {
  const failure = service.transitions.takeFailure('snapshotting')
  const isTaken = service.snapshots.find(name, record.organizationId) !== undefined
  if (failure || isTaken || service.knobs.snapshotsFailSilently) return
  const filesDir = service.snapshotDir(crypto.randomUUID())
  await mkdir(dirname(filesDir), { recursive: true })
  await copyTree(root, filesDir)
  const { cpu, memory: mem, disk } = record
  const addRow = (): void => {
    const { id: sourceSandboxId, organizationId } = record
    service.snapshots.add({ name, organizationId, state: 'active', sourceSandboxId, filesDir, cpu, mem, disk })
  }
  setTimeout(addRow, service.knobs.snapshotRowDelayMs).unref()
}
