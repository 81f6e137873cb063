import { pruneJournals, startJournal } from '@holdfast/core/provider-kit'
import type { RunStatus } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { codeOf, journalFixture, readAll } from './journal-fixture.ts'
import type { JournalFixture } from './journal-fixture.ts'

const DAY = 24 * 60 * 60 * 1_000

async function journals({ handle, nonce }: JournalFixture, runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) {
    await startJournal({ handle, runId, nonce, command: 'echo done' })
    await readAll({ handle, runId, nonce })
  }
}

function findIn(statuses: Record<string, RunStatus>): (runId: string) => Promise<RunStatus | null> {
  return async (runId) => statuses[runId] ?? null
}

describe('pruneJournals', () => {
  it('keeps what the store does not prove to be over, and says why', async () => {
    const fixture = await journalFixture()
    const { handle } = fixture
    await journals(fixture, ['ran', 'broken', 'paused', 'nobodys', 'unread', 'Done'])
    await handle.fs.write('.holdfast/journals/NOT_OURS.run', 'x')
    const findStatus = findIn({ ran: 'running', broken: 'failed', paused: 'interrupted', Done: 'completed' })
    const away = new Error('no store')
    const result = await pruneJournals({
      handle,
      findStatus: (runId) => (runId === 'unread' ? Promise.reject(away) : findStatus(runId)),
    })
    expect(result.removed.toSorted()).toEqual(['Done', 'broken'])
    expect(new Map(result.kept.map(({ name, reason }) => [name, reason]))).toEqual(
      new Map([
        ['ran', 'not-terminal'],
        ['paused', 'not-terminal'],
        ['nobodys', 'unknown-young'],
        ['unread', 'lookup-failed'],
        ['NOT_OURS', 'undecodable'],
      ]),
    )
    expect(result.kept.find(({ name }) => name === 'unread')?.error).toBe(away)
    const left = await handle.fs.list('.holdfast/journals')
    expect(left.filter(({ name }) => name.startsWith('broken') || name.startsWith('_44one'))).toEqual([])
    expect(left.some(({ name }) => name === 'ran.out')).toBe(true)
    expect(await codeOf(readAll({ ...fixture, runId: 'broken' }))).toBe('JOURNAL_NOT_FOUND')
  })

  it('removes an old journal of a run that no store knows', async () => {
    const fixture = await journalFixture()
    await journals(fixture, ['old', 'young'])
    await fixture.handle.process.exec('touch -d @1000000000 .holdfast/journals/old.out')
    const result = await pruneJournals({ ...fixture, findStatus: findIn({}), unknownAfterMs: 30 * DAY })
    expect(result).toEqual({ removed: ['old'], kept: [{ name: 'young', reason: 'unknown-young' }] })
  })

  it('trusts no age from a sandbox that cannot tell the time of a fresh file', async () => {
    const fixture = await journalFixture()
    const { handle } = fixture
    await journals(fixture, ['old'])
    await handle.process.exec('touch -d @1000000000 .holdfast/journals/old.out')
    await handle.fs.write('bin/stat', '#!/bin/sh\necho 1000000000\n')
    await handle.process.exec('chmod +x bin/stat')
    const { stdout: path } = await handle.process.exec('printf %s "$PWD/bin:$PATH"')
    await handle.env.set({ PATH: path })
    const result = await pruneJournals({ handle, findStatus: findIn({}) })
    expect(result).toEqual({ removed: [], kept: [{ name: 'old', reason: 'unknown-age' }] })
  })

  it('removes no more than it may in one sweep, and the rest in the next', async () => {
    const fixture = await journalFixture()
    await journals(fixture, ['a', 'b', 'c'])
    const findStatus = findIn({ a: 'completed', b: 'aborted', c: 'failed' })
    const first = await pruneJournals({ ...fixture, findStatus, maxRemoved: 2 })
    expect(first.removed).toHaveLength(2)
    expect(first.kept.map(({ reason }) => reason)).toEqual(['over-cap'])
    expect((await pruneJournals({ ...fixture, findStatus })).removed).toHaveLength(1)
    expect(await pruneJournals({ ...fixture, findStatus })).toEqual({ removed: [], kept: [] })
  })

  it('finds nothing in a sandbox without journals, and rejects for one that does not answer', async () => {
    const { handle, faults } = await journalFixture()
    expect(await pruneJournals({ handle, findStatus: findIn({}) })).toEqual({ removed: [], kept: [] })
    faults.add({ on: 'exec', do: 'fail' })
    await expect(pruneJournals({ handle, findStatus: findIn({}) })).rejects.toBeInstanceOf(Error)
  })
})
