import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../../src/index.ts'
import type { SandboxExecResult, SandboxSpawnHandle } from '../../../../src/index.ts'
import { newJournalNonce, probeJournal, readJournal } from '../../../../src/provider-kit/index.ts'
import type { JournalHandle, ReadJournalInput } from '../../../../src/provider-kit/index.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { ALL_CAPABILITIES } from '../../../support/stub-backend.ts'

const nonce = newJournalNonce()
const END = `\n@holdfast-exit ${nonce} 0\n`

type Answer = SandboxExecResult | Error

const answer = (liveness: string, size: number, text: string): SandboxExecResult => ({
  stdout: `${liveness}\n${size}\n${Buffer.from(text).toString('base64')}`,
  stderr: '',
  exitCode: 0,
})
const nothing = answer('alive', 0, '')
const unreachable = new ProviderError('SANDBOX_UNREACHABLE', 'no answer', { retryable: true })

interface Stub {
  handle: JournalHandle
  clock: ManualClock
  /** When each command was run. */
  times: number[]
}

/** Answers in turn, the last one again and again; its reader prints `followed` and ends. */
function stub(answers: readonly Answer[], followed?: readonly string[] | 'silent'): Stub {
  const clock = new ManualClock(0)
  const times: number[] = []
  const exec = async (): Promise<SandboxExecResult> => {
    const next = answers[Math.min(times.length, answers.length - 1)]
    times.push(clock.now())
    if (next === undefined || next instanceof Error) throw next ?? new Error('no answer')
    return next
  }
  const spawn = async (): Promise<SandboxSpawnHandle> => {
    if (followed === undefined) throw unreachable
    return follower(followed)
  }
  return { clock, times, handle: { capabilities: ALL_CAPABILITIES, process: { exec, spawn } } }
}

function follower(lines: readonly string[] | 'silent'): SandboxSpawnHandle {
  async function* stdout(): AsyncGenerator<string> {
    if (lines === 'silent') await new Promise(() => undefined)
    for (const line of lines) yield `${line}\n`
  }
  async function* stderr(): AsyncGenerator<string> {}
  const stdin = { write: () => Promise.resolve(), end: () => Promise.resolve() }
  return {
    pid: 1,
    stdout: stdout(),
    stderr: stderr(),
    stdin,
    wait: () => Promise.resolve(0),
    kill: () => Promise.resolve(),
  }
}

/** Reads to the end while time passes as fast as somebody waits for it. */
async function read({ handle, clock }: Stub, options: Partial<ReadJournalInput> = {}): Promise<unknown[]> {
  const items: unknown[] = []
  let isOver = false
  const reading = (async () => {
    for await (const item of readJournal({ handle, runId: 'run-1', nonce, clock, mode: 'poll', ...options })) {
      items.push(item.type === 'line' ? item.text : `exit ${item.exitCode}`)
    }
  })().finally(() => {
    isOver = true
  })
  reading.catch(() => undefined)
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(10)
  }
  await reading
  return items
}

describe('readJournal', () => {
  it('rejects with the code when the sandbox never answers, after asking a few times more', async () => {
    const sandbox = stub([unreachable])
    await expect(read(sandbox)).rejects.toMatchObject({ code: 'SANDBOX_UNREACHABLE' })
    expect(sandbox.times).toHaveLength(5)
    const refused = stub([new ProviderError('PROVIDER_REFUSED', 'no')])
    await expect(read(refused)).rejects.toMatchObject({ code: 'PROVIDER_REFUSED' })
    expect(refused.times).toHaveLength(1)
  })

  it('goes on where it was when the sandbox answers again', async () => {
    const sandbox = stub([
      answer('alive', 2, 'a\n'),
      unreachable,
      unreachable,
      answer('dead', 2 + END.length, `a\n${END}`),
    ])
    expect(await read(sandbox)).toEqual(['a', 'exit 0'])
  })

  it('does not take an answer that was lost on the way for an empty journal or an end', async () => {
    const lost: SandboxExecResult = { stdout: '', stderr: '', exitCode: 0 }
    expect(await read(stub([lost, lost, answer('dead', END.length, END)]))).toEqual(['exit 0'])
    await expect(read(stub([lost]))).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' })
    expect(await probeJournal({ handle: stub([lost]).handle, runId: 'run-1', nonce })).toEqual({ state: 'unknown' })
  })

  it('asks less and less often while nothing comes, and often again when something does', async () => {
    const many = Array.from({ length: 12 }, () => answer('alive', 2, 'a\n'))
    const sandbox = stub([nothing, ...many, answer('dead', 2 + END.length, `a\n${END}`)])
    await read(sandbox)
    const pauses = sandbox.times.slice(1).map((time, index) => time - (sandbox.times[index] ?? 0))
    expect(pauses[1]).toBeLessThan(150)
    expect(pauses.at(-1)).toBeGreaterThan(1_500)
    expect(Math.max(...pauses)).toBeLessThan(2_200)
  })

  it('says that nothing came after the time for the first byte, which may be without limit', async () => {
    const sandbox = stub([nothing])
    await expect(read(sandbox)).rejects.toMatchObject({ code: 'JOURNAL_STALLED', details: { timeoutMs: 10_000 } })
    expect(sandbox.clock.now()).toBeLessThan(13_000)
    const patient = stub([...Array.from({ length: 20 }, () => nothing), answer('dead', END.length, END)])
    expect(await read(patient, { firstByteTimeoutMs: 0 })).toEqual(['exit 0'])
    expect(patient.clock.now()).toBeGreaterThan(10_000)
    await expect(read(stub([nothing]), { firstByteTimeoutMs: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('polls on, from where it was, when a reader in the sandbox is lost or cannot be started', async () => {
    const whole = `a\nb\n${END}`
    const base64 = (text: string): string => `+${Buffer.from(text).toString('base64')}`
    const lost = stub([nothing, answer('dead', whole.length, whole)], ['.alive', base64('a\n')])
    expect(await read(lost, { mode: 'follow' })).toEqual(['a', 'b', 'exit 0'])
    const garbled = stub([nothing, answer('dead', whole.length, whole)], [base64('a\nb'), 'sh: out of memory'])
    expect(await read(garbled, { mode: 'follow' })).toEqual(['a', 'b', 'exit 0'])
    const refused = stub([nothing, answer('dead', whole.length, whole)])
    expect(await read(refused, { mode: 'follow' })).toEqual(['a', 'b', 'exit 0'])
  })

  it('does not wait for ever for a reader that went silent', async () => {
    const sandbox = stub([nothing, answer('dead', END.length, END)], 'silent')
    expect(await read(sandbox, { mode: 'follow', firstByteTimeoutMs: 0 })).toEqual(['exit 0'])
  })

  it('follows only where a reader can surely be killed, unless it is told otherwise', async () => {
    const whole = `a\n${END}`
    const base64 = `+${Buffer.from(whole).toString('base64')}`
    const sandbox = stub([nothing], [base64])
    expect(await read(sandbox, { mode: 'auto' })).toEqual(['a', 'exit 0'])
    expect(sandbox.times).toHaveLength(1)
    const polled = stub([answer('dead', whole.length, whole)], ['never read'])
    const capabilities = { ...ALL_CAPABILITIES, killableProcesses: false }
    expect(await read({ ...polled, handle: { ...polled.handle, capabilities } }, { mode: 'auto' })).toEqual([
      'a',
      'exit 0',
    ])
  })

  it('takes a command whose supervisor is gone for lost, and only once all was read', async () => {
    await expect(read(stub([answer('dead', 2, 'a\n')]))).rejects.toMatchObject({ code: 'PROCESS_EXIT_UNKNOWN' })
    await expect(read(stub([answer('dead', 0, '')]))).rejects.toMatchObject({ code: 'PROCESS_EXIT_UNKNOWN' })
    const late = stub([answer('alive', 2, 'a\n'), answer('dead', 2 + END.length, `a\n${END}`)])
    expect(await read(late)).toEqual(['a', 'exit 0'])
  })

  it('rejects with the reason of a signal that was aborted before, and asks nothing', async () => {
    const sandbox = stub([nothing])
    const reason = new Error('no')
    await expect(read(sandbox, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})
