import {
  newJournalNonce,
  probeJournal,
  readJournal,
  readStderrTail,
  startJournal,
  stopJournal,
} from '@holdfast/core/provider-kit'
import { describe, expect, it } from 'vitest'
import { codeOf, eventually, journalFixture, readAll, textsOf } from './journal-fixture.ts'
import { memoryProvider } from '../../../src/providers/memory/memory-provider.ts'

const MODES = ['follow', 'poll'] as const

describe('startJournal', () => {
  it('runs nothing for a run id that is hostile or unusable', async () => {
    const { handle, nonce } = await journalFixture()
    for (const runId of ['', 'a\nb', 'a\0b']) {
      expect(await codeOf(startJournal({ handle, runId, nonce, command: 'touch ran' }))).toBe('INVALID_ID')
    }
    expect(await handle.fs.exists('ran')).toBe(false)
    const hostile = '$(touch owned);`touch owned`'
    await startJournal({ handle, runId: hostile, nonce, command: 'echo fine' })
    expect(textsOf(await readAll({ handle, runId: hostile, nonce }))).toEqual(['fine', 'exit 0'])
    expect(await handle.fs.exists('owned')).toBe(false)
  })

  it('refuses a run id that has a journal of another start', async () => {
    const { handle, nonce } = await journalFixture()
    await startJournal({ handle, runId: 'run-1', nonce, command: 'echo one >> ran' })
    const again = startJournal({ handle, runId: 'run-1', nonce: newJournalNonce(), command: 'echo two >> ran' })
    expect(await codeOf(again)).toBe('JOURNAL_EXISTS')
    await readAll({ handle, runId: 'run-1', nonce })
    expect(await handle.fs.read('ran')).toBe('one\n')
  })

  it('starts the command once, however often and however early it is repeated', async () => {
    const { handle, nonce } = await journalFixture()
    const start = { handle, runId: 'run-1', nonce, command: 'echo x >> ran; sleep 0.1' }
    const results = await Promise.all([startJournal(start), startJournal(start), startJournal(start)])
    expect(results.filter((result) => result === 'started')).toHaveLength(1)
    await readAll({ handle, runId: 'run-1', nonce })
    expect(await startJournal(start)).toBe('joined')
    expect(await handle.fs.read('ran')).toBe('x\n')
  })

  it('fails for a missing directory, and leaves no journal behind', async () => {
    const { handle, nonce } = await journalFixture()
    const input = { handle, runId: 'run-1', nonce, command: 'true' }
    expect(await codeOf(startJournal({ ...input, cwd: 'missing' }))).toBe('PROCESS_START_FAILED')
    expect(await codeOf(readAll({ handle, runId: 'run-1', nonce }))).toBe('JOURNAL_NOT_FOUND')
    expect(await startJournal(input)).toBe('started')
  })

  it('keeps its files where it is told to', async () => {
    const { handle, nonce, root } = await journalFixture()
    for (const dir of ['kept here', '/workspace/there', `${root}/outside`]) {
      await startJournal({ handle, runId: 'run-1', nonce, dir, command: 'echo a' })
      expect(textsOf(await readAll({ handle, runId: 'run-1', nonce, dir }))).toEqual(['a', 'exit 0'])
    }
    expect(await handle.fs.exists('kept here/run-1.out')).toBe(true)
    expect(await handle.fs.exists('there/run-1.out')).toBe(true)
    expect(await handle.fs.exists('.holdfast')).toBe(false)
    expect(await codeOf(startJournal({ handle, runId: 'r', nonce, dir: '../x', command: 'true' }))).toBe('INVALID_PATH')
  })

  it('is refused where nothing outlives the command that starts it', async () => {
    const handle = await memoryProvider().create({ id: 'box' })
    if (handle.capabilities.backgroundProcesses) return
    const start = startJournal({ handle, runId: 'run-1', nonce: newJournalNonce(), command: 'true' })
    expect(await codeOf(start)).toBe('CAPABILITY_UNSUPPORTED')
  })

  it('gives the command its directory, variables and prompt, and no secret in any argument', async () => {
    const { handle, nonce } = await journalFixture()
    await handle.fs.mkdir('sub dir')
    const text = `hello\n"it's" $(x) 🙂 \0 end`
    await startJournal({
      handle,
      runId: 'run-1',
      nonce,
      cwd: 'sub dir',
      env: { KEY: "a'b c" },
      prompt: { text, via: 'stdin' },
      command: 'basename "$(pwd)"; echo "$KEY"; cat > got; cat /proc/*/cmdline > ../seen 2>/dev/null; true',
    })
    expect(textsOf(await readAll({ handle, runId: 'run-1', nonce }))).toEqual(['sub dir', "a'b c", 'exit 0'])
    expect(await handle.fs.read('sub dir/got')).toBe(text)
    const seen = await handle.fs.read('seen')
    expect(seen).not.toContain(nonce)
    expect(seen).not.toContain("a'b c")
    await startJournal({
      handle,
      runId: 'run-2',
      nonce,
      prompt: { text, via: 'file' },
      command: 'cat "$HOLDFAST_PROMPT_FILE" > got2; cat; env',
    })
    const items = textsOf(await readAll({ handle, runId: 'run-2', nonce }))
    expect(await handle.fs.read('got2')).toBe(text)
    expect(items.join('\n')).not.toContain(nonce)
  })
})

describe.each(MODES)('readJournal by %s', (mode) => {
  it('gives the lines as they come, and the exit code', async () => {
    const { handle, nonce } = await journalFixture()
    await startJournal({
      handle,
      runId: 'run-1',
      nonce,
      command: 'echo a; read x; echo b; sleep 0.2; printf c; exit 3',
    })
    const items = await readAll({ handle, runId: 'run-1', nonce, mode })
    expect(textsOf(items)).toEqual(['a', 'b', 'c', 'exit 3'])
    expect(items.map((item) => item.position).slice(0, 3)).toEqual([2, 4, 6])
  })

  it('is not ended by a command that prints what a marker looks like', async () => {
    const { handle, nonce } = await journalFixture()
    const fake = `@holdfast-exit ${'0'.repeat(32)} 0`
    await startJournal({ handle, runId: 'run-1', nonce, command: `echo '${fake}'; cat "$0" 2>/dev/null; echo on` })
    expect(textsOf(await readAll({ handle, runId: 'run-1', nonce, mode }))).toEqual([fake, 'on', 'exit 0'])
  })

  it('keeps every character of long lines and every line of much output', async () => {
    const { handle, nonce } = await journalFixture()
    const command = `i=0; while [ $i -lt 3000 ]; do printf '%s 🙂│漢 \\377\\n' "$i"; i=$((i+1)); done; head -c 200000 /dev/zero | tr '\\0' x`
    await startJournal({ handle, runId: 'run-1', nonce, command })
    const texts = textsOf(await readAll({ handle, runId: 'run-1', nonce, mode }))
    expect(texts).toHaveLength(3_002)
    expect(texts.slice(0, 3_000)).toEqual(Array.from({ length: 3_000 }, (_, index) => `${index} 🙂│漢 \ufffd`))
    expect(texts[3_000]).toBe('x'.repeat(200_000))
    for (const from of [1, 4_095, 4_096, 4_097, 50_000]) {
      const rest = await readAll({ handle, runId: 'run-1', nonce, mode, from })
      expect(textsOf(rest).at(-1)).toBe('exit 0')
      expect(textsOf(rest).slice(1)).toEqual(texts.slice(texts.length - rest.length + 1))
    }
  })

  it('says that nothing came, and says so only while nothing has come', async () => {
    const { handle, nonce } = await journalFixture()
    await startJournal({ handle, runId: 'run-1', nonce, command: 'sleep 30' })
    const reading = readAll({ handle, runId: 'run-1', nonce, mode, firstByteTimeoutMs: 300 })
    expect(await codeOf(reading)).toBe('JOURNAL_STALLED')
    await startJournal({ handle, runId: 'run-2', nonce, command: 'echo a; sleep 0.8; echo b' })
    const patient = await readAll({ handle, runId: 'run-2', nonce, mode, firstByteTimeoutMs: 400 })
    expect(textsOf(patient)).toEqual(['a', 'b', 'exit 0'])
  })

  it('never takes a command that was lost for one that ended well', async () => {
    const { handle, nonce } = await journalFixture()
    await startJournal({ handle, runId: 'run-1', nonce, command: 'echo a; sleep 30' })
    const reading = readAll({ handle, runId: 'run-1', nonce, mode })
    await handle.process.exec('read sup rest < .holdfast/journals/run-1.pid; kill -9 $sup')
    expect(await codeOf(reading)).toBe('PROCESS_EXIT_UNKNOWN')
    expect(await probeJournal({ handle, runId: 'run-1', nonce })).toEqual({ state: 'unknown' })
  })

  it('ends with the reason of its signal, and leaves the command alone', async () => {
    const { handle, nonce } = await journalFixture()
    await startJournal({ handle, runId: 'run-1', nonce, command: 'echo a; sleep 0.7; echo b' })
    const stop = new AbortController()
    const reason = new Error('enough')
    const seen: string[] = []
    const reading = (async () => {
      for await (const item of readJournal({ handle, runId: 'run-1', nonce, mode, signal: stop.signal })) {
        seen.push(...textsOf([item]))
        stop.abort(reason)
      }
    })()
    await expect(reading).rejects.toBe(reason)
    expect(seen).toEqual(['a'])
    expect(textsOf(await readAll({ handle, runId: 'run-1', nonce, mode, from: 2 }))).toEqual(['b', 'exit 0'])
  })

  it('leaves no reader behind in the sandbox', async () => {
    const { handle, nonce } = await journalFixture()
    await startJournal({ handle, runId: 'run-1', nonce, command: 'echo a; sleep 30' })
    for await (const item of readJournal({ handle, runId: 'run-1', nonce, mode })) {
      if (item.type === 'line') break
    }
    await stopJournal({ handle, runId: 'run-1' })
    const readers = await eventually(
      () => handle.process.exec('grep -l "read[1]" /proc/[0-9]*/cmdline 2>/dev/null | xargs -r grep -l "$PWD"; true'),
      (result) => result.stdout === '',
    )
    expect(readers.stdout.trim()).toBe('')
  })

  it('is refused for a run without a journal and for positions that cannot be', async () => {
    const { handle, nonce } = await journalFixture()
    expect(await codeOf(readAll({ handle, runId: 'nobody', nonce, mode }))).toBe('JOURNAL_NOT_FOUND')
    await startJournal({ handle, runId: 'run-1', nonce, command: 'echo a' })
    await readAll({ handle, runId: 'run-1', nonce, mode })
    expect(await codeOf(readAll({ handle, runId: 'run-1', nonce, mode, from: 10_000 }))).toBe('INVALID_OFFSET')
    expect(await codeOf(readAll({ handle, runId: 'run-1', nonce, mode, from: 1.5 }))).toBe('INVALID_OFFSET')
    expect(await codeOf(readAll({ handle, runId: 'run-1', nonce: 'short', mode }))).toBe('INVALID_ARGUMENT')
  })
})

describe('probeJournal', () => {
  it('gives no exit code before there is one', async () => {
    const { handle, nonce } = await journalFixture()
    expect(await probeJournal({ handle, runId: 'run-1', nonce })).toEqual({ state: 'unknown' })
    await startJournal({ handle, runId: 'run-1', nonce, command: 'sleep 0.5; head -c 9000 /dev/zero; exit 4' })
    expect(await probeJournal({ handle, runId: 'run-1', nonce })).toEqual({ state: 'producing' })
    await readAll({ handle, runId: 'run-1', nonce })
    expect(await probeJournal({ handle, runId: 'run-1', nonce })).toEqual({ state: 'finished', exitCode: 4 })
    expect(await probeJournal({ handle, runId: 'run-1', nonce: newJournalNonce() })).not.toMatchObject({ exitCode: 4 })
  })

  it('answers unknown when the sandbox cannot be asked', async () => {
    const { handle, nonce, faults } = await journalFixture()
    await startJournal({ handle, runId: 'run-1', nonce, command: 'true' })
    faults.add({ on: 'exec', do: 'fail' })
    expect(await probeJournal({ handle, runId: 'run-1', nonce })).toEqual({ state: 'unknown' })
  })
})

describe('stopJournal', () => {
  it('ends all that the command started, and the journal says how it ended', async () => {
    const { handle, nonce } = await journalFixture()
    const deep =
      'trap "" TERM; (setsid sh -c "trap : TERM; while :; do sleep 0.1; done" &) ; echo up; while :; do sleep 0.1; done'
    await startJournal({ handle, runId: 'run-1', nonce, command: deep })
    const reading = readAll({ handle, runId: 'run-1', nonce })
    const processes = 'grep -l HOLDFAST_JOURNAL= /proc/[0-9]*/environ 2>/dev/null | xargs -r grep -l "$HOME"; true'
    expect((await handle.process.exec(processes)).stdout).not.toBe('')
    await stopJournal({ handle, runId: 'run-1', graceMs: 200 })
    expect((await handle.process.exec(processes)).stdout).toBe('')
    expect(textsOf(await reading)).toEqual(['up', 'exit 137'])
    await stopJournal({ handle, runId: 'run-1' })
    await stopJournal({ handle, runId: 'nobody' })
  })
})

describe('readStderrTail', () => {
  it('gives the end of the errors, whole characters only', async () => {
    const { handle, nonce } = await journalFixture()
    const command = 'i=0; while [ $i -lt 3000 ]; do printf 漢 >&2; i=$((i+1)); done; echo end >&2; exit 1'
    await startJournal({ handle, runId: 'run-1', nonce, command })
    await readAll({ handle, runId: 'run-1', nonce })
    const tail = await readStderrTail({ handle, runId: 'run-1', maxBytes: 100 })
    expect(tail).toMatch(/^漢{31}漢?end\n$/)
  })
})
