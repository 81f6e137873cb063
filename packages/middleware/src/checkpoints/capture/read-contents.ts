import { isHoldfastError } from '@holdfast/core'
import type { BlobStore, CheckpointEntry, CheckpointPolicy } from '@holdfast/core'
import type { ReadArchiveEntry } from '@holdfast/core/provider-kit'
import type { SecretRedactor } from '../../secrets/secret-redactor.ts'
import { limitExceeded } from '../policy/checkpoint-limits.ts'
import type { CheckpointLimits } from '../policy/checkpoint-limits.ts'
import type { CheckpointWorkspace } from '../workspace/checkpoint-workspace.ts'
import { statPaths } from '../workspace/list-workspace.ts'
import { readFiles } from '../workspace/read-files.ts'
import type { WorkspaceEntry } from '../workspace/workspace-entry.ts'
import { BlobIntake } from './blob-intake.ts'
import type { CaptureReport } from './capture-report.ts'
import { redactedBody, SecretContent } from './redacted-body.ts'

type FileEntry = Extract<CheckpointEntry, { kind: 'file' }>

export interface ReadContentsInput {
  workspace: CheckpointWorkspace
  limits: CheckpointLimits
  redactor: SecretRedactor
  onSecret: NonNullable<CheckpointPolicy['onSecret']>
  blobs: BlobStore
  report: CaptureReport
}

export interface ReadContents {
  readonly files: Map<string, FileEntry>
  /** Files that did not hold still, so that what is known of them proves nothing later. */
  readonly unsettled: Set<string>
  readonly addedBytes: number
}

/**
 * Reads and stores the contents of files. Looks at them again afterwards; what changed meanwhile is read once more, and
 * reported when it changed again. Never fails for what a file became.
 */
export async function readContents(input: ReadContentsInput, files: readonly WorkspaceEntry[]): Promise<ReadContents> {
  const intake = new BlobIntake(input.blobs, 'sandbox-files/')
  const reader = new ContentReader(input, intake)
  try {
    await reader.read(files)
    const changed = await reader.findChanged(files)
    await reader.read(changed)
    for (const { path } of await reader.findChanged(changed)) reader.noteUnsettled(path)
    for (const { path } of changed) reader.unsettled.add(path)
    await intake.flush()
  } finally {
    await intake.dispose()
  }
  reader.reportMissing(files)
  return { files: reader.files, unsettled: reader.unsettled, addedBytes: intake.addedBytes }
}

class ContentReader {
  readonly files = new Map<string, FileEntry>()
  readonly unsettled = new Set<string>()
  readonly #input: ReadContentsInput
  readonly #intake: BlobIntake
  /** Left out for a reason that is reported already. */
  readonly #leftOut = new Set<string>()

  constructor(input: ReadContentsInput, intake: BlobIntake) {
    this.#input = input
    this.#intake = intake
  }

  async read(files: readonly WorkspaceEntry[]): Promise<void> {
    const wanted = new Map(files.map((file) => [file.path, file]))
    const links: (ReadArchiveEntry & { kind: 'hardlink' })[] = []
    for await (const entry of readFiles(this.#input.workspace, files)) {
      const file = wanted.get(entry.path)
      if (file === undefined) continue
      // What comes a second time is not believed.
      wanted.delete(entry.path)
      if (entry.kind === 'hardlink') links.push(entry)
      else if (entry.kind === 'file') await this.#take(file, entry)
      else this.noteUnsettled(entry.path)
    }
    for (const { path, target } of links) this.#takeLink(path, target)
  }

  /**
   * Files that were written to since they were listed, as they are now. What is gone or no file any more is noted here. All hold
   * still where the sandbox cannot tell.
   */
  async findChanged(files: readonly WorkspaceEntry[]): Promise<WorkspaceEntry[]> {
    const looked = files.filter(({ path }) => !this.#leftOut.has(path))
    if (looked.length === 0) return []
    const now = await statPaths(
      this.#input.workspace,
      looked.map(({ path }) => path),
    )
    const changed: WorkspaceEntry[] = []
    for (const file of now === undefined ? [] : looked) {
      const entry = now?.entries.get(file.path)
      if (entry?.stamp === file.stamp) continue
      if (entry?.kind === 'file') changed.push(entry)
      else if (entry !== undefined || this.files.has(file.path)) this.noteUnsettled(file.path)
    }
    return changed
  }

  noteUnsettled(path: string): void {
    this.unsettled.add(path)
    this.#leftOut.add(path)
    this.#input.report.add('changed-while-read', path, 'it changed while it was read')
  }

  reportMissing(files: readonly WorkspaceEntry[]): void {
    for (const { path } of files) {
      if (this.files.has(path) || this.#leftOut.has(path)) continue
      this.#input.report.add('skipped', path, 'it vanished or may not be read')
    }
  }

  async #take(file: WorkspaceEntry, entry: ReadArchiveEntry & { kind: 'file' }): Promise<void> {
    const { redactor, onSecret, report, limits } = this.#input
    const { path, mode } = file
    const max = limits.maxFileBytes
    if (entry.size > max) {
      throw limitExceeded({ limit: 'maxFileBytes', max, path: redactor.text(path), size: entry.size })
    }
    const body = redactedBody({ path, body: entry.body as AsyncIterable<Uint8Array>, redactor, onSecret })
    try {
      this.files.set(path, { path, kind: 'file', ...(await this.#intake.add(body.pieces)), mode })
      if (body.isRedacted()) report.add('redacted', path, 'it held a registered secret')
    } catch (error) {
      if (isHoldfastError(error, 'BLOB_TOO_LARGE')) {
        throw limitExceeded({ limit: 'maxFileBytes', max, path: redactor.text(path), size: entry.size })
      }
      if (!(error instanceof SecretContent)) throw error
      this.files.delete(path)
      this.#leftOut.add(path)
      report.add('excluded', path, error.reason)
    }
  }

  /** Some tools pack a second name of a file as a reference to the first. */
  #takeLink(path: string, target: string): void {
    const first = this.files.get(target)
    if (first !== undefined) this.files.set(path, { ...first, path })
    else this.noteUnsettled(path)
  }
}
