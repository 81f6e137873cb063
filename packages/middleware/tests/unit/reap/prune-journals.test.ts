import { expect, it } from 'vitest'
import type { RunError } from '@holdfast/core'
import { findJournal } from '../../../src/agent/agent-journal.ts'
import { listJournalEntries } from '../../../src/agent/journal-index.ts'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import type { ReapReport } from '../../../src/reap/reap-outcome.ts'
import { reapRuns } from '../../../src/reap/reap-runs.ts'
import { startReaper } from '../../../src/reap/start-reaper.ts'
import { agentFixture, eventually, printing, sandboxOf, startAgent } from '../../fixtures/agent-fixture.ts'
import type { AgentFixture } from '../../fixtures/agent-fixture.ts'
import { storedChunks, textOf } from '../../fixtures/chat-fixture.ts'

const DETACHED_TTL_MS = 3_600_000
const QUICK = { command: printing(['done']), parse: 'text' } as const

function reap(fixture: AgentFixture): Promise<ReapReport> {
  const { stores, clock, definition: sandbox } = fixture
  return reapRuns({ stores, clock, sandbox, detachedTtlMs: DETACHED_TTL_MS })
}

async function journalFiles(fixture: AgentFixture): Promise<string[]> {
  const handle = await sandboxOf(fixture)
  return ((await handle?.fs.list('.holdfast/journals')) ?? [])
    .map(({ name }) => name)
    .filter((name) => name.startsWith('run-'))
}

async function runAgent(fixture: AgentFixture, runId = 'run-1'): Promise<void> {
  await (
    await startAgent(fixture, runId)
  ).drive
}

it('a reap removes the journals of ended runs, and then never asks that sandbox again', async () => {
  const fixture = await agentFixture(QUICK)
  await runAgent(fixture, 'run-1')
  await runAgent(fixture, 'run-2')
  expect((await journalFiles(fixture)).length).toBeGreaterThan(0)
  const { journals } = await reap(fixture)
  expect(journals).toMatchObject([{ threadId: 'thread-1', outcome: 'pruned' }])
  expect(journals[0]?.removed.toSorted()).toEqual(['run-1', 'run-2'])
  expect(await journalFiles(fixture)).toEqual([])
  expect(await findJournal(fixture.stores, 'run-2')).toBeNull()

  fixture.faults.add({ on: 'resume', do: 'fail' })
  expect(await reap(fixture)).toMatchObject({ journals: [], errors: [] })
  fixture.faults.clear()
  await runAgent(fixture, 'run-3')
  expect(await reap(fixture)).toMatchObject({ journals: [{ removed: ['run-3'] }] })
})

it('a run that goes on keeps its journal, and its sandbox is not asked', async () => {
  const fixture = await agentFixture({ command: printing(['one', 'two'], { pauseSeconds: 0.5 }), parse: 'text' })
  const started = await startAgent(fixture)
  await eventually(async () => textOf(await storedChunks(fixture.stores, 'run-1')).includes('one'))
  fixture.faults.add({ on: 'resume', do: 'fail' })
  expect(await reap(fixture)).toMatchObject({ journals: [], errors: [] })
  fixture.faults.clear()
  await started.drive
  expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  expect(await reap(fixture)).toMatchObject({ journals: [{ outcome: 'pruned', removed: ['run-1'] }] })
})

it('a sandbox that cannot be asked is told of and tried again, but not for ever', async () => {
  const fixture = await agentFixture(QUICK)
  await runAgent(fixture)
  const { stores, clock, definition: sandbox } = fixture
  const errors: RunError[] = []
  const reports: ReapReport[] = []
  const reaper = startReaper({
    stores,
    clock,
    sandbox,
    everyMs: 60_000,
    detachedTtlMs: DETACHED_TTL_MS,
    random: () => 0.5,
    onReap: (report) => reports.push(report),
    onError: (error) => void errors.push(error),
  })
  fixture.faults.add({ on: 'resume', do: 'fail', times: 100 })
  for (let round = 1; round <= 7; round += 1) {
    await clock.advance(60_000)
    await eventually(async () => reports.length === round)
  }
  await reaper.stop()
  expect(reports.map(({ journals }) => journals.map(({ outcome }) => outcome))).toEqual([
    ...Array.from({ length: 5 }, () => ['failed']),
    [],
    [],
  ])
  expect(errors).toHaveLength(5)
  expect(await listJournalEntries(stores)).toEqual([])
})

it('one that works again before that is pruned', async () => {
  const fixture = await agentFixture(QUICK)
  await runAgent(fixture)
  fixture.faults.add({ on: 'resume', do: 'fail' })
  expect(await reap(fixture)).toMatchObject({ journals: [{ outcome: 'failed', removed: [] }], errors: [] })
  expect(await reap(fixture)).toMatchObject({ journals: [{ outcome: 'pruned', removed: ['run-1'] }] })
})

it('what went with its sandbox is forgotten', async () => {
  const fixture = await agentFixture(QUICK)
  await runAgent(fixture)
  const [listing] = (await fixture.provider.list?.({ labels: {} })) ?? []
  await fixture.provider.destroy({ id: listing?.sandboxId ?? '' })
  expect(await reap(fixture)).toMatchObject({ journals: [{ outcome: 'gone', removed: [] }] })
  expect(await listJournalEntries(fixture.stores)).toEqual([])
})

it('a sandbox that is stopped after each run is not started for its journals', async () => {
  const fixture = await agentFixture(QUICK, { lifecycle: { keepAlive: false } })
  await runAgent(fixture)
  fixture.faults.add({ on: 'resume', do: 'fail' })
  expect(await reap(fixture)).toMatchObject({ journals: [], errors: [] })
})

it('what is another definition’s is left to its reaper', async () => {
  const fixture = await agentFixture(QUICK)
  await runAgent(fixture)
  const other = defineSandbox({ id: 'other', provider: fixture.provider })
  expect(await reap({ ...fixture, definition: other })).toMatchObject({ journals: [] })
  expect(await reap(fixture)).toMatchObject({ journals: [{ removed: ['run-1'] }] })
})
