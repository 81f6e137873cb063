import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidInputError } from '@holdfast/core'
import type { SandboxSnapshotRef } from '@holdfast/core'
import { isAbsence } from '../files/file-error.ts'
import { copyTree } from './sandbox-directory.ts'
import type { SandboxDirectory, SandboxRecord } from './sandbox-directory.ts'

/** Hidden from the list of sandboxes by its dot. */
const SNAPSHOTS = '.snapshots'
const SNAPSHOT_ID = /^[0-9a-f-]{36}$/

/** Copies of sandboxes, kept in the provider's directory. They outlive the sandbox they were taken of. */
export class SnapshotDirectory {
  readonly #sandboxes: SandboxDirectory

  constructor(sandboxes: SandboxDirectory) {
    this.#sandboxes = sandboxes
  }

  async take(record: SandboxRecord, label?: string): Promise<SandboxSnapshotRef> {
    const ref: SandboxSnapshotRef = { id: randomUUID(), ...(label === undefined ? {} : { label }) }
    const { workspace, home } = await this.#sandboxes.paths(record.id)
    const root = join(await this.#sandboxes.root(), SNAPSHOTS)
    const building = join(root, `building-${ref.id}`)
    try {
      await mkdir(building, { recursive: true })
      await copyTree(workspace, join(building, 'workspace'))
      await copyTree(home, join(building, 'home'))
      await writeFile(join(building, 'snapshot.json'), JSON.stringify({ ...ref, sandboxId: record.id }))
      await rename(building, join(root, ref.id))
    } catch (error) {
      await rm(building, { recursive: true, force: true })
      throw error
    }
    return ref
  }

  /** The directory with the snapshot's content, or null when there is none. */
  async find(snapshotId: string): Promise<string | null> {
    if (!SNAPSHOT_ID.test(snapshotId))
      throw new InvalidInputError('INVALID_ID', 'snapshotId is not one of this provider.')
    const path = join(await this.#sandboxes.root(), SNAPSHOTS, snapshotId)
    try {
      await stat(path)
      return path
    } catch (error) {
      if (isAbsence(error)) return null
      throw error
    }
  }
}
