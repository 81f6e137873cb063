import { attachRun } from '@holdfast/middleware'
import type { StreamChunk } from '@tanstack/ai'
import { isFinal } from './final-event.ts'
import type { SimHost } from './sim-host.ts'
import { codeOf } from './sim-world.ts'
import type { SimWorld } from './sim-world.ts'

export interface SeenEvent {
  readonly offset: string
  readonly chunk: StreamChunk
}

/** A browser that watches one run: it reads a stream, and when that breaks off, joins again where it was. */
export class SimViewer {
  readonly name: string
  readonly runId: string
  /** Where it began to watch: `-1`, or the offset of an event. */
  readonly startOffset: string
  readonly seen: SeenEvent[] = []
  /** Events that are in no log: errors of the transport. */
  readonly untracked: StreamChunk[] = []
  hasLeft = false
  hasEnded = false
  readonly #world: SimWorld
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #host: SimHost | undefined
  /** Counts its streams: only the newest is looked at. */
  #streams = 0
  /** Its stream broke off. */
  isCut = true

  constructor(world: SimWorld, input: { name: string; runId: string; startOffset?: string }) {
    this.#world = world
    this.name = input.name
    this.runId = input.runId
    this.startOffset = input.startOffset ?? '-1'
  }

  get offset(): string {
    return this.seen.at(-1)?.offset ?? this.startOffset
  }

  get isWatching(): boolean {
    return !this.hasLeft && !this.hasEnded && !this.isCut
  }

  /** Asks for a stream: what an earlier one still brings is nobody's any more. */
  begin(host: SimHost): number {
    this.isCut = false
    this.#streams += 1
    this.#host = host
    host.onDeath(() => this.#cut(host))
    return this.#streams
  }

  /** Reads the answer to what it began to ask for. */
  watch(stream: number, host: SimHost, response: Response): void {
    if (this.#streams === stream) void this.#read(host, response)
  }

  /** Joins again on a host, from where it was. */
  async join(host: SimHost): Promise<void> {
    this.#world.note(`${this.name} joins ${this.runId} on ${host.name} after ${this.offset}`)
    const stream = this.begin(host)
    const request = new Request(`http://sim/?runId=${this.runId}&offset=${encodeURIComponent(this.offset)}`)
    const { stores, driver } = host.parts
    try {
      const attached = attachRun({ stores, clock: host.clock, driver, request, keepAliveMs: 120_000 })
      const response = await this.#world.expectEnd(host, `${this.name} joins`, attached)
      if (this.#streams === stream) await this.#read(host, response)
    } catch (error) {
      this.#world.note(`${this.name} cannot join: ${codeOf(error)}`)
      if (this.#streams === stream) this.isCut = true
    }
  }

  leave(): void {
    if (this.hasLeft || this.hasEnded) return
    this.#world.note(`${this.name} leaves`)
    this.hasLeft = true
    if (this.#host?.isDead === true) return
    this.#reader?.cancel().catch(() => undefined)
  }

  #cut(host: SimHost): void {
    if (this.#host === host) this.isCut = true
  }

  async #read(host: SimHost, response: Response): Promise<void> {
    const stream = this.#streams
    if (response.status !== 200 || response.body === null) {
      this.isCut = true
      return
    }
    const reader = response.body.getReader()
    this.#reader = reader
    if (this.hasLeft) await reader.cancel()
    let text = ''
    const decoder = new TextDecoder()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (this.#streams !== stream || host.isDead || this.hasLeft) return
        if (done) break
        text += decoder.decode(value, { stream: true })
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) this.#take(block)
      }
      this.#world.note(`${this.name}'s stream ends after ${this.seen.length}`)
      this.#finishStream()
    } catch (error) {
      this.#world.note(`${this.name}'s stream breaks: ${codeOf(error)}`)
      if (this.#streams === stream) this.isCut = true
    }
  }

  #take(block: string): void {
    const lines = block.split('\n')
    const field = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
    const data = field('data')
    if (data === undefined) return
    const chunk = JSON.parse(data) as StreamChunk
    const offset = field('id')
    if (offset === undefined) this.untracked.push(chunk)
    else this.seen.push({ offset, chunk })
  }

  /** A stream that ends with the run is over; any other has to be joined again. */
  #finishStream(): void {
    if (isFinal(this.seen.at(-1)?.chunk)) this.hasEnded = true
    else this.isCut = true
  }
}
