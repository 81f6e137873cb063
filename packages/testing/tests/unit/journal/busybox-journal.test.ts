import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxHandle } from '@holdfast/core'
import {
  probeJournal,
  pruneJournals,
  readStderrTail,
  shellQuote,
  startJournal,
  stopJournal,
} from '@holdfast/core/provider-kit'
import { afterAll, describe, expect, it } from 'vitest'
import { journalFixture, readAll, textsOf } from './journal-fixture.ts'

const hasBusybox = spawnSync('busybox', ['true']).status === 0
const tools = mkdtempSync(join(tmpdir(), 'holdfast-busybox-'))
if (hasBusybox) execFileSync('busybox', ['--install', '-s', tools])
else console.warn('skipped: no busybox')
afterAll(() => rmSync(tools, { recursive: true, force: true }))

/** The same sandbox with nothing in it but BusyBox. */
function onBusybox(handle: SandboxHandle): SandboxHandle {
  const line = (command: string): string => `PATH=${shellQuote(tools)} exec ${tools}/sh -c ${shellQuote(command)}`
  const process: SandboxHandle['process'] = {
    exec: (command, options) => handle.process.exec(line(command), options),
    spawn: (command, options) => handle.process.spawn(line(command), options),
  }
  return { ...handle, process }
}

describe.skipIf(!hasBusybox)('a journal on BusyBox', () => {
  it.each(['follow', 'poll'] as const)('is written and read by %s', async (mode) => {
    const { handle: real, nonce } = await journalFixture()
    const handle = onBusybox(real)
    const command =
      'cat; i=0; while [ $i -lt 2000 ]; do echo "$i 漢 padding padding"; i=$((i+1)); done; echo bad >&2; exit 6'
    await startJournal({ handle, runId: 'run-1', nonce, command, prompt: { text: 'hi\n', via: 'stdin' } })
    const items = await readAll({ handle, runId: 'run-1', nonce, mode })
    const lines = Array.from({ length: 2_000 }, (_, index) => `${index} 漢 padding padding`)
    expect(textsOf(items)).toEqual(['hi', ...lines, 'exit 6'])
    const from = items[1_000]?.position ?? 0
    expect(await readAll({ handle, runId: 'run-1', nonce, mode, from })).toEqual(items.slice(1_001))
    expect(await probeJournal({ handle, runId: 'run-1', nonce })).toEqual({ state: 'finished', exitCode: 6 })
    expect(await readStderrTail({ handle, runId: 'run-1' })).toBe('bad\n')
  })

  it('is stopped with all it started, and pruned by age', async () => {
    const { handle: real, nonce } = await journalFixture()
    const handle = onBusybox(real)
    await startJournal({ handle, runId: 'run-1', nonce, command: '(setsid sleep 60 &); echo up; sleep 60' })
    const reading = readAll({ handle, runId: 'run-1', nonce })
    await stopJournal({ handle, runId: 'run-1' })
    expect(textsOf(await reading)).toEqual(['up', 'exit 143'])
    const left = await real.process.exec(
      'grep -l HOLDFAST_JOURNAL= /proc/[0-9]*/environ 2>/dev/null | xargs -r grep -l "$HOME"; true',
    )
    expect(left.stdout).toBe('')
    await real.process.exec('touch -d @1000000000 .holdfast/journals/run-1.out')
    expect(await pruneJournals({ handle, findStatus: async () => null })).toEqual({ removed: ['run-1'], kept: [] })
  })
})
