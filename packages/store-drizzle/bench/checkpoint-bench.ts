import { createHash } from 'node:crypto'
import type { CheckpointEntry, SandboxCheckpoint } from '@holdfast/core'
import type { ModelMessage } from '@tanstack/ai'
import type { Sql } from 'postgres'
import type { SqlStores } from '../src/index.ts'
import { percentile } from './measure.ts'
import type { Measurement } from './measure.ts'

const FILES = 5_000
const CHANGES = 10
const CHECKPOINTS = 100
const MESSAGES = 200

/** What a checkpoint costs, and what 100 of them weigh against the bytes that changed and one manifest. */
export async function benchCheckpoints(stores: SqlStores, sql: Sql): Promise<Measurement[]> {
  await sql`create table plain_manifests (id text primary key, body text not null)`
  const writer = await stores.checkpoints.acquireWriter('bench')
  const before = await storedBytes(sql)
  let files = Array.from({ length: FILES }, (_, index) => entry(index, 0))
  const conversation = Array.from({ length: MESSAGES }, (_, index) => message(index))
  const ours: number[] = []
  const plain: number[] = []
  let changedBytes = 0
  let parent: string | null = null
  for (let version = 0; version <= CHECKPOINTS; version += 1) {
    if (version > 0) {
      const changed = Array.from({ length: CHANGES }, (_, each) => (version * 487 + each * 499) % FILES)
      files = files.map((file, index) => (changed.includes(index) ? entry(index, version) : file))
      changedBytes += changed.reduce((sum, index) => sum + JSON.stringify(files[index]).length, 0)
    }
    const checkpoint: SandboxCheckpoint = {
      id: `bench-${version}`,
      threadId: 'bench',
      parentCheckpointId: parent,
      createdAt: version,
      reason: 'automatic',
      files,
      conversation,
      artifacts: [],
    }
    ours.push(await timed(() => stores.checkpoints.append({ checkpoint, expectedHeadId: parent, writer })))
    const body = JSON.stringify(checkpoint)
    plain.push(await timed(() => sql`insert into plain_manifests values (${checkpoint.id}, ${body})`))
    parent = checkpoint.id
  }
  await assertRestorable(stores, `bench-${CHECKPOINTS}`, files)
  const manifestBytes = JSON.stringify({ files, conversation }).length
  const allowed = 3 * changedBytes + manifestBytes
  const stored = (await storedBytes(sql)) - before
  return [
    {
      name: `checkpoint of ${FILES} files, ${CHANGES} changed, p50`,
      ours: `${percentile(ours.slice(1), 0.5).toFixed(1)} ms`,
      plain: `${percentile(plain.slice(1), 0.5).toFixed(1)} ms`,
      ratio: percentile(ours.slice(1), 0.5) / percentile(plain.slice(1), 0.5),
    },
    {
      name: `bytes of ${CHECKPOINTS} such, against 3x changed + 1`,
      ours: `${(stored / 1024).toFixed(0)} KiB`,
      plain: `${(allowed / 1024).toFixed(0)} KiB`,
      ratio: stored / allowed,
      budget: { atMost: 1 },
    },
  ]
}

function entry(index: number, version: number): CheckpointEntry {
  const hash = createHash('sha256').update(`${index} ${version}`).digest('hex')
  const path = `packages/part-${index % 50}/src/component-${index}.ts`
  return { path, kind: 'file', blobKey: `sandbox-files/sha256/${hash}`, size: 1_000 + index, mode: 0o644 }
}

function message(index: number): ModelMessage {
  return { role: index % 2 === 0 ? 'user' : 'assistant', content: `message ${index} `.repeat(30) }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** Rows, indexes and out-of-line text of everything that a checkpoint writes. */
async function storedBytes(sql: Sql): Promise<number> {
  await sql`vacuum full holdfast.checkpoint_heads`
  const [row] = await sql`
    select sum(pg_total_relation_size(('holdfast.' || name)::regclass))::float8 as bytes
    from unnest(array['checkpoints', 'checkpoint_nodes', 'checkpoint_heads']) as name`
  return Number(row?.['bytes'])
}

async function assertRestorable(stores: SqlStores, id: string, files: CheckpointEntry[]): Promise<void> {
  const found = await stores.checkpoints.get(id)
  if (JSON.stringify(found?.files) !== JSON.stringify(files)) throw new Error('The checkpoint came back changed.')
}
