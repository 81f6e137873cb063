import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxHandle, SandboxProvider } from '@holdfast/core'
import { newJournalNonce, readJournal } from '@holdfast/core/provider-kit'
import type { JournalExit, JournalLine, ReadJournalInput } from '@holdfast/core/provider-kit'
import { onTestFinished } from 'vitest'
import { FaultPlan } from '../../../src/faults/fault-plan.ts'
import { processProvider } from '../../../src/providers/process/process-provider.ts'

export interface JournalFixture {
  /** Where the provider keeps its sandboxes. */
  root: string
  provider: SandboxProvider
  handle: SandboxHandle
  faults: FaultPlan
  nonce: string
}

/** A sandbox of real processes, gone when the test ends. */
export async function journalFixture(): Promise<JournalFixture> {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-journal-'))
  const faults = new FaultPlan()
  const provider = processProvider({ dir: root, faults })
  const handle = await provider.create({ id: 'box' })
  onTestFinished(async () => {
    faults.clear()
    await provider.destroy({ id: 'box' })
    await rm(root, { recursive: true, force: true })
  })
  return { root, provider, handle, faults, nonce: newJournalNonce() }
}

export async function readAll(input: ReadJournalInput): Promise<(JournalLine | JournalExit)[]> {
  const items: (JournalLine | JournalExit)[] = []
  for await (const item of readJournal(input)) items.push(item)
  return items
}

export function textsOf(items: readonly (JournalLine | JournalExit)[]): string[] {
  return items.map((item) => (item.type === 'line' ? item.text : `exit ${item.exitCode}`))
}

/** What a rejected promise says. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no error',
    (error: unknown) => Reflect.get(error as object, 'code'),
  )
}

/** Looks until the condition holds and answers what it last saw; real processes have no other way to tell. */
export async function eventually<T>(look: () => Promise<T>, holds: (seen: T) => boolean, limitMs = 5_000): Promise<T> {
  const endsAt = performance.now() + limitMs
  let seen = await look()
  while (!holds(seen) && performance.now() < endsAt) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    seen = await look()
  }
  return seen
}
