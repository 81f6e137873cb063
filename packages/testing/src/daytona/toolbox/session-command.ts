import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { makePipes, openInputPipe, openOutputPipe, type OutputPipe } from './output-pipe.ts'
import { LineLabeler, SessionLog, STDERR_MARKER, STDOUT_MARKER } from './session-log.ts'

/**
 * One command of a session. Its exit code is known only when the shell has reported it **and** nobody holds its outputs
 * open any more, so that a background child delays it [M].
 */
export class SessionCommand {
  readonly commandId: string
  readonly command: string
  readonly isAsync: boolean
  readonly echoesInput: boolean
  readonly log: SessionLog
  readonly #dir: string
  readonly #started: Promise<void>
  readonly #finished: Promise<void>
  #pipes: OutputPipe[] = []
  #input: Socket | undefined
  #exitCode: number | undefined
  #start: () => void = () => undefined
  #finish: () => void = () => undefined

  constructor(input: { commandId: string; command: string; isAsync: boolean; echoesInput: boolean; dir: string }) {
    this.commandId = input.commandId
    this.command = input.command
    this.isAsync = input.isAsync
    this.echoesInput = input.echoesInput
    this.#dir = input.dir
    this.#started = new Promise((resolve) => (this.#start = resolve))
    this.#finished = new Promise((resolve) => (this.#finish = resolve))
    mkdirSync(this.#dir, { recursive: true })
    writeFileSync(this.#path('cmd.sh'), `${input.command}\n`)
    this.log = new SessionLog(this.#path('output.log'))
  }

  /** Absent while the command runs, and for ever when its shell died first. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  /** Resolves with the exit code; never, when the session's shell died. */
  get finished(): Promise<void> {
    return this.#finished
  }

  get started(): Promise<void> {
    return this.#started
  }

  /** Makes the pipes and answers the line that the session's shell has to read. */
  async prepare(): Promise<string> {
    const [input, out, err] = [this.#path('in'), this.#path('out'), this.#path('err')]
    await makePipes(out, err, ...(this.isAsync ? [input] : []))
    this.#pipes = [this.#label(out, STDOUT_MARKER), this.#label(err, STDERR_MARKER)]
    // There is no way to send the end of it [D190].
    if (this.isAsync) this.#input = openInputPipe(input)
    const stdin = this.isAsync ? quote(input) : '/dev/null'
    return `{ . ${quote(this.#path('cmd.sh'))}; } <${stdin} >${quote(out)} 2>${quote(err)} 3>&-; echo "$?" >&3\n`
  }

  markStarted(): void {
    this.#start()
  }

  /** The shell has reported a code. */
  async complete(exitCode: number): Promise<void> {
    await this.#drain()
    this.#exitCode = exitCode
    this.#closeInput()
    this.#finish()
  }

  /** The shell is gone: what is left in the pipes is still logged, a code is never written [M]. */
  async abandon(): Promise<void> {
    this.#closeInput()
    await this.#drain()
  }

  get hasInput(): boolean {
    return this.#input !== undefined
  }

  /** Text only; a missing newline is added, and the text is logged as output unless that was suppressed. */
  async writeInput(data: string): Promise<void> {
    const line = data.endsWith('\n') ? data : `${data}\n`
    const input = this.#input
    if (!input) return
    await new Promise<void>((resolve) => input.write(line, () => resolve()))
    if (!this.echoesInput) return
    const echo = new LineLabeler(this.log, STDOUT_MARKER)
    echo.write(Buffer.from(line))
    echo.end()
  }

  remove(): void {
    this.#closeInput()
    for (const pipe of this.#pipes) pipe.closeWriter()
    this.log.close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #label(path: string, marker: Buffer): OutputPipe {
    const labeler = new LineLabeler(this.log, marker)
    const pipe = openOutputPipe(path, (chunk) => labeler.write(chunk))
    return { closeWriter: pipe.closeWriter, ended: pipe.ended.then(() => labeler.end()) }
  }

  async #drain(): Promise<void> {
    for (const pipe of this.#pipes) pipe.closeWriter()
    await Promise.all(this.#pipes.map((pipe) => pipe.ended))
  }

  #closeInput(): void {
    this.#input?.destroy()
    this.#input = undefined
  }

  #path(name: string): string {
    return join(this.#dir, name)
  }
}

function quote(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}
