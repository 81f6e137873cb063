import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { StoreError } from '@holdfast/core'
import { SERVER_ENV } from './postgres-directory.ts'
import type { PostgresDirectory } from './postgres-directory.ts'

/**
 * Starts and signals the server as commands on standard input say. End of input, which also comes when the test process
 * is killed, ends the server and removes its directory; that takes more than one try while an `initdb` still writes.
 * The pid file exists only while the server has not been waited for, so that a signal never reaches a stranger.
 */
const WATCHDOG = `
trap '' HUP INT TERM PIPE
directory=$1; shift
signal() { [ -f "$directory/server.pid" ] && kill -s "$1" "$(cat "$directory/server.pid")" 2>/dev/null; }
while read -r command argument; do
  case $command in
    start) (
      "$@" -p "$argument" >&2 &
      echo $! >"$directory/server.pid"
      wait $!
      code=$?
      rm -f "$directory/server.pid"
      echo "exited $code"
    ) & ;;
    signal) signal "$argument" ;;
  esac
done
signal QUIT
wait
cd /
tries=50
until rm -rf "$directory" 2>/dev/null || [ $tries -eq 0 ]; do tries=$((tries - 1)); sleep 0.1; done
`

const READY = 'ready to accept connections'
const LOG_TAIL = 8_192

/** The shell process between the test process and the server. */
export class PostgresWatchdog {
  readonly #shell: ChildProcessByStdio<Writable, Readable, Readable>
  #log = ''
  #isRunning = false
  #onReady: () => void = () => {}
  #onExit: () => void = () => {}

  constructor(directory: PostgresDirectory, serverArguments: readonly string[]) {
    const command = [directory.path, directory.postgresPath, '-D', directory.dataPath, ...serverArguments]
    this.#shell = spawn('/bin/sh', ['-c', WATCHDOG, 'holdfast-pg', ...command], {
      ...directory.user,
      cwd: directory.path,
      env: SERVER_ENV,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#hold(false)
    // A write after the shell is gone shows in its exit; without a listener it would end the test process.
    this.#shell.stdin.on('error', () => this.#onExit())
    this.#shell.stderr.setEncoding('utf8').on('data', (text: string) => this.#hearLog(text))
    createInterface({ input: this.#shell.stdout }).on('line', () => this.#hearExit())
    this.#shell.on('exit', () => this.#hearExit())
  }

  /** The end of the server's log. */
  get log(): string {
    return this.#log.trim()
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Resolves when the server takes connections; rejects when it ends first, with the end of its log. */
  async start(port: number): Promise<void> {
    this.#log = ''
    const ready = new Promise<boolean>((resolve) => {
      this.#onReady = () => resolve(true)
      this.#onExit = () => resolve(false)
    })
    this.#isRunning = true
    this.#shell.stdin.write(`start ${port}\n`)
    if (!(await this.#heldUntil(ready)))
      throw new StoreError('STORE_UNAVAILABLE', `PostgreSQL did not start: ${this.log}`)
  }

  /** Resolves when the server has ended. */
  async signal(name: 'INT' | 'KILL'): Promise<void> {
    if (!this.#isRunning) return
    const exited = new Promise<void>((resolve) => {
      this.#onExit = resolve
    })
    this.#shell.stdin.write(`signal ${name}\n`)
    await this.#heldUntil(exited)
  }

  /** Ends the server and the shell; resolves when the directory is gone. Repeatable. */
  async end(): Promise<void> {
    if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return
    const exited = once(this.#shell, 'exit')
    this.#shell.stdin.end()
    await this.#heldUntil(exited)
  }

  async #heldUntil<T>(done: Promise<T>): Promise<T> {
    this.#hold(true)
    try {
      return await done
    } finally {
      this.#hold(false)
    }
  }

  /** A server that is only there keeps no process alive; one that is awaited does. */
  #hold(isHeld: boolean): void {
    const { stdin, stdout, stderr } = this.#shell
    for (const part of [this.#shell, stdin, stdout, stderr] as unknown as Socket[]) {
      if (isHeld) part.ref()
      else part.unref()
    }
  }

  #hearLog(text: string): void {
    this.#log = (this.#log + text).slice(-LOG_TAIL)
    if (this.#log.includes(READY)) this.#onReady()
  }

  #hearExit(): void {
    this.#isRunning = false
    this.#onExit()
  }
}
