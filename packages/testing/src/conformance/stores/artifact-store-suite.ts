import assert from 'node:assert/strict'
import type { ArtifactRecord, ArtifactStore } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { BAD_TIMES, ODD_IDS, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const MINIMAL: ArtifactRecord = {
  artifactId: 'artifact-1',
  runId: 'run-1',
  threadId: 'thread-1',
  name: 'report.pdf',
  mimeType: 'application/pdf',
  size: 12,
  createdAt: 1_000,
}

const FULL: ArtifactRecord = { ...MINIMAL, blobKey: 'any/key', sourceUrl: 'https://example.com/report.pdf?a=b' }

async function saveMany(artifacts: ArtifactStore, records: readonly Partial<ArtifactRecord>[]): Promise<void> {
  for (const record of records) await artifacts.save({ ...MINIMAL, ...record })
}

const idsOf = (records: readonly ArtifactRecord[]): string[] => records.map(({ artifactId }) => artifactId)

const recordCases: readonly StoreCase[] = [
  storeCase(
    'artifact.save.keeps-every-field',
    'save stores every field and adds none',
    async ({ stores: { artifacts } }) => {
      await artifacts.save(FULL)
      assert.deepEqual(await artifacts.get('artifact-1'), FULL)
      assert.equal(await artifacts.get('nothing'), null)
    },
  ),
  storeCase(
    'artifact.save.replaces-all',
    'save replaces the whole record: fields left out are absent',
    async ({ stores: { artifacts } }) => {
      await artifacts.save(FULL)
      await artifacts.save({ ...MINIMAL, name: 'other', runId: 'run-2' })
      assert.deepEqual(await artifacts.get('artifact-1'), { ...MINIMAL, name: 'other', runId: 'run-2' })
      assert.deepEqual(await artifacts.list('run-1'), [])
      await artifacts.save(FULL)
      await artifacts.save(FULL)
      assert.deepEqual(await artifacts.list('run-1'), [FULL])
    },
  ),
  storeCase('artifact.copies', 'records are copies on the way in and out', async ({ stores: { artifacts } }) => {
    const given = { ...FULL }
    await artifacts.save(given)
    given.name = 'changed after'
    const read = required(await artifacts.get('artifact-1'), 'the record')
    assert.deepEqual(read, FULL)
    read.name = 'changed by a reader'
    assert.deepEqual(await artifacts.get('artifact-1'), FULL)
  }),
  storeCase(
    'artifact.list.order',
    'lists are by createdAt, then by id in UTF-8 byte order',
    async ({ stores: { artifacts } }) => {
      await saveMany(artifacts, [
        { artifactId: 'late', createdAt: 10_000 },
        { artifactId: '😀', createdAt: 2_000 },
        { artifactId: '\ufffd', createdAt: 2_000 },
        { artifactId: 'b', createdAt: 2_000 },
        { artifactId: 'B', createdAt: 2_000 },
        { artifactId: 'z', createdAt: 900 },
        { artifactId: 'other run', runId: 'run-2', createdAt: 1 },
        { artifactId: 'other thread', runId: 'run-3', threadId: 'thread-2' },
      ])
      const own = ['z', 'B', 'b', '\ufffd', '😀', 'late']
      assert.deepEqual(idsOf(await artifacts.list('run-1')), own)
      assert.deepEqual(idsOf(await artifacts.listForThread('thread-1')), ['other run', ...own])
      assert.deepEqual(await artifacts.list('nothing'), [])
      assert.deepEqual(await artifacts.listForThread('nothing'), [])
    },
  ),
  storeCase(
    'artifact.delete',
    'delete removes one, deleteForRun those of a run; missing ones are fine',
    async ({ stores: { artifacts } }) => {
      await saveMany(artifacts, [
        { artifactId: 'a' },
        { artifactId: 'b' },
        { artifactId: 'c' },
        { artifactId: 'd', runId: 'run-2' },
      ])
      await artifacts.delete('a')
      await artifacts.delete('a')
      assert.deepEqual(idsOf(await artifacts.listForThread('thread-1')), ['b', 'c', 'd'])
      await artifacts.deleteForRun('run-1')
      await artifacts.deleteForRun('run-1')
      assert.deepEqual(idsOf(await artifacts.listForThread('thread-1')), ['d'])
    },
  ),
  storeCase(
    'artifact.delete.keeps-bytes',
    'delete leaves the bytes that the artifact points at',
    async ({ stores: { artifacts, blobs } }) => {
      await blobs.put('any/key', 'bytes')
      await artifacts.save(FULL)
      await artifacts.delete('artifact-1')
      assert.equal((await blobs.head('any/key'))?.size, 5)
    },
    ['blobs'],
  ),
]

const inputCases: readonly StoreCase[] = [
  storeCase(
    'artifact.ids.odd-ones-are-kept-apart',
    'ids are compared exactly, whatever characters they have',
    async ({ stores: { artifacts } }) => {
      await saveMany(
        artifacts,
        ODD_IDS.map((id) => ({ artifactId: id, runId: id, threadId: id })),
      )
      for (const id of ODD_IDS) {
        assert.equal((await artifacts.get(id))?.artifactId, id)
        assert.deepEqual(idsOf(await artifacts.list(id)), [id])
      }
    },
  ),
  storeCase(
    'artifact.input.bad-ones-are-refused',
    'malformed ids, times and sizes are refused, and nothing is stored',
    async ({ stores: { artifacts } }) => {
      await refusesBadIds({
        'save artifactId': (artifactId) => artifacts.save({ ...MINIMAL, artifactId }),
        'save runId': (runId) => artifacts.save({ ...MINIMAL, runId }),
        'save threadId': (threadId) => artifacts.save({ ...MINIMAL, threadId }),
        get: (id) => artifacts.get(id),
        list: (id) => artifacts.list(id),
        listForThread: (id) => artifacts.listForThread(id),
        delete: (id) => artifacts.delete(id),
        deleteForRun: (id) => artifacts.deleteForRun(id),
      })
      await refusesBadArguments(BAD_TIMES, {
        createdAt: (createdAt) => artifacts.save({ ...MINIMAL, createdAt }),
        size: (size) => artifacts.save({ ...MINIMAL, size }),
      })
      assert.equal(await artifacts.get('artifact-1'), null)
    },
  ),
  storeCase('artifact.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { artifacts } = stores
    await stores.close()
    await refusesClosed({
      save: () => artifacts.save(MINIMAL),
      get: () => artifacts.get('artifact-1'),
      list: () => artifacts.list('run-1'),
      listForThread: () => artifacts.listForThread('thread-1'),
      delete: () => artifacts.delete('artifact-1'),
      deleteForRun: () => artifacts.deleteForRun('run-1'),
    })
  }),
  storeCase(
    'artifact.reopened',
    'records outlive a close',
    async (subject) => {
      await subject.stores.artifacts.save(FULL)
      const { artifacts } = await required(subject.reopen, 'reopen')()
      assert.deepEqual(await artifacts.listForThread('thread-1'), [FULL])
    },
    ['reopen'],
  ),
]

function needsArtifacts(testCase: StoreCase): StoreCase {
  return { ...testCase, needs: ['artifacts', ...(testCase.needs ?? [])] }
}

/** The contract of `ArtifactStore`. */
export const artifactStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'ArtifactStore',
  cases: [...recordCases, ...inputCases].map(needsArtifacts),
}
