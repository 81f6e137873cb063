import { newJournalNonce, probeJournal, readJournal, startJournal, stopJournal } from '@holdfast/core/provider-kit'
import type { ReadJournalInput } from '@holdfast/core/provider-kit'
import { describe, expect, test } from 'vitest'
import { startDaytona } from '../daytona-fixture.ts'

const EXEC = 'POST /process/execute'
const LOGS = 'WS /process/session/:session/command/:command/logs'

async function textsOf(input: ReadJournalInput): Promise<string[]> {
  const texts: string[] = []
  for await (const item of readJournal(input)) texts.push(item.type === 'line' ? item.text : `exit ${item.exitCode}`)
  return texts
}

const SLOW = 'i=0; while [ $i -lt 6 ]; do echo "line $i 🙂"; i=$((i+1)); sleep 0.2; done; exit 4'
const WHOLE = [...Array.from({ length: 6 }, (_, index) => `line ${index} 🙂`), 'exit 4']

describe('a journal', () => {
  test.each(['follow', 'poll'] as const)(
    'goes on when the host that started it is gone, and is read by another by %s',
    { timeout: 40_000 },
    async (mode) => {
      const { provider, connect } = await startDaytona()
      const first = await provider.create({ id: 'box' })
      const nonce = newJournalNonce()
      await startJournal({
        handle: first,
        runId: 'run-1',
        nonce,
        command: `cat; ${SLOW}`,
        prompt: { text: 'hi\n', via: 'stdin' },
      })
      await provider.close?.()
      const second = await connect().resume({ id: first.id })
      if (second === null) throw new Error('The sandbox is gone.')
      expect(await textsOf({ handle: second, runId: 'run-1', nonce, mode })).toEqual(['hi', ...WHOLE])
      expect(await probeJournal({ handle: second, runId: 'run-1', nonce })).toEqual({ state: 'finished', exitCode: 4 })
    },
  )

  test.each([
    ['replies are lost', EXEC, { kind: 'lost-reply' } as const],
    ['connections drop', EXEC, { kind: 'drop' } as const],
    ['a gateway answers 502', EXEC, { kind: 'status', status: 502 } as const],
    ['the log stream is cut', LOGS, { kind: 'cut-socket', atByte: 300 } as const],
    ['the log stream is refused', LOGS, { kind: 'status', status: 502 } as const],
  ])('starts its command once and gives each line once when %s', { timeout: 40_000 }, async (_title, on, effect) => {
    const { server, provider } = await startDaytona()
    const handle = await provider.create({})
    const nonce = newJournalNonce()
    server.setFault({ on, effect, times: 2 })
    await startJournal({ handle, runId: 'run-1', nonce, command: `echo run >>runs; ${SLOW}` })
    expect(await textsOf({ handle, runId: 'run-1', nonce })).toEqual(WHOLE)
    server.clearFaults()
    expect(await handle.fs.read('runs')).toBe('run\n')
  })

  test('is stopped with all that its command started', { timeout: 40_000 }, async () => {
    const { provider } = await startDaytona()
    const handle = await provider.create({})
    const nonce = newJournalNonce()
    await startJournal({ handle, runId: 'run-1', nonce, command: 'echo up; (setsid sleep 61 &); sleep 62' })
    const processes = 'grep -l HOLDFAST_JOURNAL= /proc/[0-9]*/environ 2>/dev/null | xargs -r grep -l "$PWD"; true'
    expect((await handle.process.exec(processes)).stdout).not.toBe('')
    await stopJournal({ handle, runId: 'run-1' })
    expect(await textsOf({ handle, runId: 'run-1', nonce })).toEqual(['up', 'exit 143'])
    expect((await handle.process.exec(processes)).stdout).toBe('')
  })
})
