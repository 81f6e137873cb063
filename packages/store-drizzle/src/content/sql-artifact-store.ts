import { assertArtifactRecord, assertId, decodeJson, encodeExactJson } from '@holdfast/core'
import type { ArtifactRecord, ArtifactStore } from '@holdfast/core'
import { maybeText, number, text } from '../database/row.ts'
import type { Row, Statement } from '../database/statement.ts'
import {
  deleteArtifact,
  deleteRunArtifacts,
  findArtifact,
  listRunArtifacts,
  listThreadArtifacts,
  saveArtifact,
} from '../statements/artifacts.ts'
import type { StoreContext } from '../store-context.ts'

type Attributes = Pick<ArtifactRecord, 'name' | 'mimeType' | 'size' | 'sourceUrl'>

export class SqlArtifactStore implements ArtifactStore {
  readonly #context: StoreContext

  constructor(context: StoreContext) {
    this.#context = context
  }

  save: ArtifactStore['save'] = async (record) => {
    assertArtifactRecord(record)
    const { artifactId, runId, threadId, blobKey, createdAt, name, mimeType, size, sourceUrl } = record
    const attributes = encodeExactJson({ name, mimeType, size, sourceUrl })
    await this.#context.db.rows(saveArtifact, [artifactId, runId, threadId, blobKey ?? null, createdAt, attributes])
  }

  get: ArtifactStore['get'] = async (artifactId) => {
    assertId('artifactId', artifactId)
    const row = await this.#context.db.row(findArtifact, [artifactId])
    return row === undefined ? null : artifactRecord(row)
  }

  list: ArtifactStore['list'] = (runId) => this.#list(listRunArtifacts, 'runId', runId)

  listForThread: ArtifactStore['listForThread'] = (threadId) => this.#list(listThreadArtifacts, 'threadId', threadId)

  delete: ArtifactStore['delete'] = async (artifactId) => {
    assertId('artifactId', artifactId)
    await this.#context.db.rows(deleteArtifact, [artifactId])
  }

  deleteForRun: ArtifactStore['deleteForRun'] = async (runId) => {
    assertId('runId', runId)
    await this.#context.db.rows(deleteRunArtifacts, [runId])
  }

  async #list(statement: Statement, kind: string, id: string): Promise<ArtifactRecord[]> {
    const rows = await this.#context.db.rows(statement, [assertId(kind, id)])
    return rows.map(artifactRecord)
  }
}

function artifactRecord(row: Row): ArtifactRecord {
  const blobKey = maybeText(row, 'blob_key')
  return {
    artifactId: text(row, 'artifact_id'),
    runId: text(row, 'run_id'),
    threadId: text(row, 'thread_id'),
    ...(blobKey !== undefined && { blobKey }),
    ...(decodeJson(text(row, 'attributes'), 'artifact') as Attributes),
    createdAt: number(row, 'created_at'),
  }
}
