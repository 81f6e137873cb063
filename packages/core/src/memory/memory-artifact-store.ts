import { assertArtifactRecord } from '../content/artifact-check.ts'
import type { ArtifactRecord, ArtifactStore } from '../content/artifact-store.ts'
import { assertId } from '../identifier.ts'
import { compareUtf8 } from '../utf8-order.ts'
import { copyRecord } from './memory-copy.ts'
import { MemoryState } from './memory-state.ts'

/** Named outputs of runs, in memory. */
export class MemoryArtifactStore implements ArtifactStore {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async save(record: ArtifactRecord): Promise<void> {
    this.#state.assertOpen()
    assertArtifactRecord(record)
    this.#state.artifacts.set(record.artifactId, copyRecord(record))
  }

  async get(artifactId: string): Promise<ArtifactRecord | null> {
    this.#state.assertOpen()
    const record = this.#state.artifacts.get(assertId('artifactId', artifactId))
    return record === undefined ? null : copyRecord(record)
  }

  async list(runId: string): Promise<ArtifactRecord[]> {
    return this.#select('runId', runId)
  }

  async listForThread(threadId: string): Promise<ArtifactRecord[]> {
    return this.#select('threadId', threadId)
  }

  async delete(artifactId: string): Promise<void> {
    this.#state.assertOpen()
    this.#state.artifacts.delete(assertId('artifactId', artifactId))
  }

  async deleteForRun(runId: string): Promise<void> {
    for (const { artifactId } of this.#select('runId', runId)) this.#state.artifacts.delete(artifactId)
  }

  #select(field: 'runId' | 'threadId', id: string): ArtifactRecord[] {
    this.#state.assertOpen()
    assertId(field, id)
    return [...this.#state.artifacts.values()]
      .filter((record) => record[field] === id)
      .sort((a, b) => a.createdAt - b.createdAt || compareUtf8(a.artifactId, b.artifactId))
      .map(copyRecord)
  }
}
