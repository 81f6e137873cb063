import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { journalFixture, readAll, textsOf } from '../unit/journal/journal-fixture.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const PROGRAM = [
  join(ROOT, 'tools/run-source.mjs'),
  'packages/testing/tests/fixtures/journal-host.ts',
  'runJournalHost',
]

it('a command outlives the host that started it, and another host reads all of it once, from any byte', async () => {
  const { root, handle, nonce } = await journalFixture()
  const command =
    'i=0; while [ $i -lt 12 ]; do echo "line $i 🙂"; i=$((i+1)); sleep 0.15; done; echo ran >> runs; exit 5'
  const host = spawn(process.execPath, [...PROGRAM, root, nonce, command], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const seen: string[] = []
  for await (const line of createInterface({ input: host.stdout })) {
    seen.push(line)
    if (seen.length === 4) host.kill('SIGKILL')
  }
  if (host.exitCode === null && host.signalCode === null) await once(host, 'exit')
  expect(host.signalCode).toBe('SIGKILL')
  expect(seen[0]).toBe('started')
  expect(await handle.fs.exists('runs')).toBe(false)

  const whole = await readAll({ handle, runId: 'run-1', nonce })
  expect(textsOf(whole)).toEqual([...Array.from({ length: 12 }, (_, index) => `line ${index} 🙂`), 'exit 5'])
  expect(await handle.fs.read('runs')).toBe('ran\n')
  expect(seen.slice(1, 4)).toEqual(whole.slice(0, 3).map((item) => JSON.stringify(item)))

  const size = whole.at(-1)?.position ?? 0
  for (let from = 0; from <= size; from += 7) {
    const rest = await readAll({ handle, runId: 'run-1', nonce, from, mode: 'poll' })
    const later = whole.filter((item) => item.type === 'line' && item.position > from)
    expect(rest.slice(0, -1).map(({ position }) => position)).toEqual(later.map(({ position }) => position))
    expect(rest.at(-1)).toEqual(whole.at(-1))
  }
  const left = await handle.process.exec(
    'grep -l "read[1]" /proc/[0-9]*/cmdline 2>/dev/null | xargs -r grep -l "$PWD"; true',
  )
  expect(left.stdout).toBe('')
}, 60_000)
