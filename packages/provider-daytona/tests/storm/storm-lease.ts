import { readFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { isHoldfastError } from '@holdfast/core'
import type { SandboxHandle, SandboxProvider } from '@holdfast/core'
import type { DaytonaServer } from '@holdfast/testing/daytona'
import type { SeededRandom } from './seeded-random.ts'

/** An operation that takes longer than this counts as one that never settles. */
const NEVER_MS = 180_000
const LABELS = { app: 'storm' }

/** What the storm found wrong. */
export class StormFault extends Error {}

/** One lease, used by one worker at a time, with what must be true of it. */
export class StormLease {
  readonly #key: string
  readonly #provider: SandboxProvider
  readonly #server: DaytonaServer
  readonly #random: SeededRandom
  #generation = 0
  #handle: SandboxHandle | undefined
  #commands = 0
  /** Commands that were reported as ended; each must stand in the ledger once. */
  #ended: string[] = []
  /** What the file may hold: one value after a success, more after a failure. */
  #content: (string | undefined)[] = [undefined]

  constructor(key: string, provider: SandboxProvider, server: DaytonaServer, random: SeededRandom) {
    this.#key = key
    this.#provider = provider
    this.#server = server
    this.#random = random
  }

  /** One random operation. Failures that say what they are count as weather; anything else is a fault. */
  async step(): Promise<string> {
    const operations = [
      'exec',
      'exec',
      'stream',
      'stream',
      'spawn',
      'file',
      'file',
      'archive',
      'resume',
      'timeout',
      'park',
      'renew',
    ]
    const operation = this.#random.pick(operations)
    try {
      await settled(`${this.#key} ${operation}`, this.#run(operation))
      return operation
    } catch (error) {
      if (error instanceof StormFault || !isHoldfastError(error)) throw error
      return `${operation} ${error.code}`
    }
  }

  async #run(operation: string): Promise<void> {
    const handle = this.#handle ?? (await this.#open())
    switch (operation) {
      case 'exec':
        return this.#exec(handle, false)
      case 'stream':
        return this.#exec(handle, true)
      case 'spawn':
        return this.#spawn(handle)
      case 'timeout':
        return this.#timeout(handle)
      case 'file':
        return this.#file(handle)
      case 'archive':
        return this.#archive(handle)
      case 'resume':
        return this.#resume(handle)
      case 'park':
        await this.#provider.park?.({ id: handle.id, mode: this.#random.pick(['stop', 'archive'] as const) })
        return this.#resume(handle)
      default:
        return this.#renew(handle)
    }
  }

  async #open(): Promise<SandboxHandle> {
    this.#handle = await this.#provider.create({ id: this.#id(), labels: LABELS })
    return this.#handle
  }

  async #exec(handle: SandboxHandle, isStreamed: boolean): Promise<void> {
    const name = this.#newCommand()
    const lines = this.#random.below(isStreamed ? 40 : 400)
    const exitCode = this.#random.below(120)
    const pause = isStreamed && this.#random.below(2) === 0 ? 'sleep 0.02;' : ''
    const command = `${note(name)} i=0; while [ $i -lt ${lines} ]; do echo "ö ${name} $i"; ${pause} i=$((i+1)); done; echo e >&2; exit ${exitCode}`
    const expected = Array.from({ length: lines }, (_, i) => `ö ${name} ${i}\n`).join('')
    let live = ''
    const options = isStreamed ? { onStdout: (text: string) => void (live += text) } : {}
    try {
      const result = await handle.process.exec(command, options)
      this.#ended.push(name)
      check(result.stdout === expected && result.stderr === 'e\n', `${name}: output lost or doubled`)
      check(result.exitCode === exitCode, `${name}: exit code ${result.exitCode} instead of ${exitCode}`)
      check(!isStreamed || live === expected, `${name}: streamed output lost or doubled`)
    } catch (error) {
      check(expected.startsWith(live), `${name}: streamed output is wrong before a failure`)
      throw error
    }
  }

  async #spawn(handle: SandboxHandle): Promise<void> {
    const name = this.#newCommand()
    const spawned = await handle.process.spawn(`${note(name)} cat; exit 4`)
    const pieces = Array.from({ length: this.#random.below(4) }, (_, i) => `${name} piece ${i} ü\n`)
    for (const piece of pieces) await spawned.stdin.write(piece)
    await spawned.stdin.end()
    let text = ''
    for await (const piece of spawned.stdout) text += piece
    const exitCode = await spawned.wait()
    this.#ended.push(name)
    check(exitCode === 4, `${name}: exit code ${exitCode} instead of 4`)
    check(text === pieces.join(''), `${name}: ${JSON.stringify(text)} instead of ${JSON.stringify(pieces.join(''))}`)
  }

  async #timeout(handle: SandboxHandle): Promise<void> {
    const name = this.#newCommand()
    const result = await handle.process.exec(`${note(name)} sleep 600`, { timeoutMs: 200 + this.#random.below(400) })
    check(result.timedOut === true && result.exitCode === 124, `${name}: a time-out was not told`)
  }

  async #file(handle: SandboxHandle): Promise<void> {
    const size = this.#random.below(4) === 0 ? 300_000 : this.#random.below(2_000)
    const text = `${this.#newCommand()} `.repeat(Math.ceil(size / 10) + 1)
    this.#content.push(text)
    await handle.fs.write('dir/file', text)
    this.#content = [text]
    await this.#checkFile(handle)
  }

  async #archive(handle: SandboxHandle): Promise<void> {
    if (handle.archive === undefined) return
    const bytes = await new Response(await handle.archive.pack(['dir', 'dir/file'])).arrayBuffer()
    await handle.archive.unpack(new Response(bytes).body as ReadableStream<Uint8Array>)
    await this.#checkFile(handle)
  }

  async #checkFile(handle: SandboxHandle): Promise<void> {
    const text = (await handle.fs.exists('dir/file')) ? await handle.fs.read('dir/file') : undefined
    check(this.#content.includes(text), `${this.#id()}: a file holds what nobody wrote`)
    this.#content = [text]
  }

  async #resume(handle: SandboxHandle): Promise<void> {
    const resumed = await this.#provider.resume({ id: handle.id })
    check(resumed !== null, `${this.#id()}: a sandbox that exists was called gone`)
    this.#handle = resumed ?? undefined
  }

  /** Destroys the sandbox and goes on with a new one; nothing may work on the old one. */
  async #renew(handle: SandboxHandle): Promise<void> {
    this.checkLedger()
    await handle.destroy()
    const after = await handle.process.exec('true').then(
      () => 'ran',
      (error: unknown) => (isHoldfastError(error) ? error.code : 'other'),
    )
    check(after === 'SANDBOX_CLOSED', `${this.#id()}: after destroy a command gave ${after}`)
    this.#startOver()
  }

  #startOver(): void {
    this.#generation += 1
    this.#handle = undefined
    this.#ended = []
    this.#content = [undefined]
  }

  /** Every command that ended ran once, and none ran twice. */
  checkLedger(): void {
    const id = this.#handle?.id
    const held = this.#server.sandboxes().find(({ sandboxId }) => sandboxId === id)
    const path = held === undefined ? undefined : join(held.homeDir, 'ledger')
    if (path === undefined || !existsSync(path)) return
    const runs = readFileSync(path, 'utf8').trim().split('\n')
    check(new Set(runs).size === runs.length, `${this.#id()}: a command ran twice`)
    for (const name of this.#ended) check(runs.includes(name), `${name}: it is said to have ended and never ran`)
  }

  async finish(): Promise<void> {
    this.checkLedger()
    await settled(`${this.#key} destroy`, this.#provider.destroy({ id: this.#handle?.id ?? this.#id() }))
  }

  #id(): string {
    return `${this.#key}-${this.#generation}`
  }

  #newCommand(): string {
    this.#commands += 1
    return `${this.#id()}-${this.#commands}`
  }
}

/** The ledger stands outside the workspace, where the test reads it on its own. */
function note(name: string): string {
  return `echo ${name} >>"$HOME/ledger";`
}

function check(isTrue: boolean, fault: string): void {
  if (!isTrue) throw new StormFault(fault)
}

function settled<T>(what: string, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StormFault(`${what} never settles`)), NEVER_MS)
    work.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}
