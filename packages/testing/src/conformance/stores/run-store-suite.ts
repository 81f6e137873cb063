import assert from 'node:assert/strict'
import type { RunRecord, RunStore } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { BAD_TIMES, ODD_IDS, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { required } from './required.ts'
import { runListCases } from './run-list-cases.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

type RunPatch = Parameters<RunStore['update']>[1]

const FULL_PATCH: Required<RunPatch> = {
  status: 'failed',
  finishedAt: 2_000,
  error: { message: 'no luck', code: 'rate_limited' },
  usage: { promptTokens: 3, completionTokens: 4, totalTokens: 9, promptTokensDetails: { cachedTokens: 2 } },
  sandboxKey: 'key-1',
  detachedSince: 1_500,
  cancelRequested: true,
  driverEpoch: 7,
}

const NEW_RUN = { runId: 'run-1', threadId: 'thread-1', startedAt: 1_000 }

async function startRun(subject: StoreSubject, input: Partial<RunRecord> = {}): Promise<RunRecord> {
  return subject.stores.runs.createOrResume({ ...NEW_RUN, ...input })
}

const recordCases: readonly StoreCase[] = [
  storeCase('run.create.makes-a-running-record', 'createOrResume makes a running record', async (subject) => {
    const created = await startRun(subject)
    assert.deepEqual(created, { ...NEW_RUN, status: 'running' })
    assert.deepEqual(await subject.stores.runs.get('run-1'), created)
  }),
  storeCase('run.create.takes-a-status', 'createOrResume stores the status that it is given', async (subject) => {
    await startRun(subject, { status: 'interrupted' })
    assert.equal((await subject.stores.runs.get('run-1'))?.status, 'interrupted')
  }),
  storeCase(
    'run.create.returns-an-existing-record-unchanged',
    'createOrResume returns an existing record unchanged',
    async (subject) => {
      const created = await startRun(subject)
      const again = await startRun(subject, { threadId: 'thread-2', startedAt: 5_000, status: 'completed' })
      assert.deepEqual(again, created)
      assert.deepEqual(await subject.stores.runs.get('run-1'), created)
    },
  ),
  storeCase(
    'run.create.is-atomic',
    'createOrResume gives every simultaneous caller the same record',
    async (subject) => {
      const racers = Array.from({ length: 10 }, (_, index) => startRun(subject, { startedAt: index }))
      const [first, ...others] = await Promise.all(racers)
      for (const other of others) assert.deepEqual(other, first)
    },
  ),
  storeCase('run.get.unknown-is-null', 'get of an unknown run is null', async ({ stores }) => {
    assert.equal(await stores.runs.get('nothing'), null)
  }),
  storeCase('run.update.keeps-every-field', 'update stores every field that a patch can have', async (subject) => {
    await startRun(subject)
    await subject.stores.runs.update('run-1', FULL_PATCH)
    assert.deepEqual(await subject.stores.runs.get('run-1'), { ...NEW_RUN, ...FULL_PATCH })
  }),
  storeCase(
    'run.update.leaves-absent-fields',
    'update leaves the fields that a patch does not have',
    async (subject) => {
      await startRun(subject)
      await subject.stores.runs.update('run-1', FULL_PATCH)
      await subject.stores.runs.update('run-1', { sandboxKey: 'key-2' })
      await subject.stores.runs.update('run-1', {})
      assert.deepEqual(await subject.stores.runs.get('run-1'), { ...NEW_RUN, ...FULL_PATCH, sandboxKey: 'key-2' })
    },
  ),
  storeCase(
    'run.update.clears-undefined-fields',
    'update clears a field given as undefined, which is then absent',
    async (subject) => {
      await startRun(subject)
      await subject.stores.runs.update('run-1', FULL_PATCH)
      const { status, ...optional } = FULL_PATCH
      for (const field of Object.keys(optional)) {
        await subject.stores.runs.update('run-1', { [field]: undefined })
        const record = await subject.stores.runs.get('run-1')
        assert.ok(record !== null && !Object.hasOwn(record, field), `${field} is still there`)
      }
      assert.deepEqual(await subject.stores.runs.get('run-1'), { ...NEW_RUN, status })
    },
  ),
  storeCase(
    'run.update.unknown-is-a-no-op',
    'update of an unknown run does nothing and makes no record',
    async ({ stores }) => {
      await stores.runs.update('nothing', FULL_PATCH)
      assert.equal(await stores.runs.get('nothing'), null)
    },
  ),
  storeCase(
    'run.text.is-kept-exactly',
    'error text keeps NUL, lone surrogates and literal escapes',
    async (subject) => {
      await startRun(subject)
      const error = { message: 'nul \0, lone \ud800, literal \\u0000, 😀' }
      await subject.stores.runs.update('run-1', { status: 'failed', error })
      assert.deepEqual((await subject.stores.runs.get('run-1'))?.error, error)
    },
  ),
  storeCase('run.records-are-copies', 'records are copies on the way in and out', async (subject) => {
    await startRun(subject)
    const error = { message: 'as given' }
    await subject.stores.runs.update('run-1', { error })
    error.message = 'changed after'
    const read = await subject.stores.runs.get('run-1')
    assert.equal(read?.error?.message, 'as given')
    if (read?.error) read.error.message = 'changed by a reader'
    assert.equal((await subject.stores.runs.get('run-1'))?.error?.message, 'as given')
  }),
]

const inputCases: readonly StoreCase[] = [
  storeCase(
    'run.ids.odd-ones-are-kept-apart',
    'ids are compared exactly, whatever characters they have',
    async (subject) => {
      for (const id of ODD_IDS) await startRun(subject, { runId: id, threadId: id })
      for (const id of ODD_IDS) {
        assert.equal((await subject.stores.runs.get(id))?.runId, id)
        assert.equal((await subject.stores.runs.findActiveRun(id))?.runId, id)
      }
    },
  ),
  storeCase(
    'run.ids.bad-ones-are-refused',
    'malformed ids are refused with INVALID_ID',
    async ({ stores: { runs } }) => {
      await refusesBadIds({
        'createOrResume runId': (runId) => runs.createOrResume({ ...NEW_RUN, runId }),
        'createOrResume threadId': (threadId) => runs.createOrResume({ ...NEW_RUN, threadId }),
        get: (runId) => runs.get(runId),
        update: (runId) => runs.update(runId, { status: 'failed' }),
        findActiveRun: (threadId) => runs.findActiveRun(threadId),
      })
      assert.equal(await runs.get('run-1'), null)
    },
  ),
  storeCase(
    'run.times.bad-ones-are-refused',
    'negative and non-finite times are refused, and nothing is stored',
    async (subject) => {
      const { runs } = subject.stores
      await refusesBadArguments(BAD_TIMES, { startedAt: (startedAt) => runs.createOrResume({ ...NEW_RUN, startedAt }) })
      assert.equal(await runs.get('run-1'), null)
      await startRun(subject)
      await refusesBadArguments(BAD_TIMES, {
        finishedAt: (finishedAt) => runs.update('run-1', { status: 'failed', finishedAt }),
        detachedSince: (detachedSince) => runs.update('run-1', { status: 'failed', detachedSince }),
      })
      assert.equal((await runs.get('run-1'))?.status, 'running')
    },
  ),
  storeCase('run.status.unknown-is-refused', 'a status that does not exist is refused', async (subject) => {
    const { runs } = subject.stores
    await startRun(subject)
    const invented = 'toString' as RunRecord['status']
    await refusesBadArguments([invented], {
      createOrResume: (status) => runs.createOrResume({ ...NEW_RUN, runId: 'run-2', status }),
      update: (status) => runs.update('run-1', { status }),
    })
  }),
]

const stateCases: readonly StoreCase[] = [
  storeCase('run.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { runs } = stores
    await stores.close()
    await refusesClosed({
      createOrResume: () => runs.createOrResume(NEW_RUN),
      get: () => runs.get('run-1'),
      update: () => runs.update('run-1', {}),
      findActiveRun: () => runs.findActiveRun('thread-1'),
    })
  }),
  storeCase(
    'run.reopened',
    'records outlive a close',
    async (subject) => {
      await startRun(subject)
      await subject.stores.runs.update('run-1', FULL_PATCH)
      const reopened = await required(subject.reopen, 'reopen')()
      assert.deepEqual(await reopened.runs.get('run-1'), { ...NEW_RUN, ...FULL_PATCH })
    },
    ['reopen'],
  ),
  storeCase(
    'run.concurrent.create',
    'createOrResume makes one record for callers on several connections',
    async (subject) => {
      const connect = required(subject.connect, 'connect')
      const hosts = [subject.stores, await connect(), await connect(), await connect()]
      const racers = Array.from({ length: 40 }, (_, index) =>
        required(hosts[index % hosts.length], 'host').runs.createOrResume({ ...NEW_RUN, startedAt: index }),
      )
      const [first, ...others] = await Promise.all(racers)
      for (const other of others) assert.deepEqual(other, first)
    },
    ['concurrent'],
  ),
]

/** The contract of `RunStore`. */
export const runStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'RunStore',
  cases: [...recordCases, ...runListCases, ...inputCases, ...stateCases],
}
