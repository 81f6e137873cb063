import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { DaytonaKnobs } from '../daytona-knobs.ts'
import type { SandboxRecord } from '../control/sandbox-record.ts'
import type { SeededRandom } from '../seeded-random.ts'
import { isReused, processGroup, signalProcess } from '../../process-group.ts'
import type { ProcessGroup } from '../../process-group.ts'
import { proxyError } from '../http/wire-error.ts'
import { descendantsOf, listProcesses, processesWithEnv } from './process-table.ts'
import { PtyRegistry } from './pty-registry.ts'
import { SessionRegistry } from './session-registry.ts'

export interface ToolboxContext {
  readonly knobs: DaytonaKnobs
  readonly random: SeededRandom
  readonly now: () => number
  /** Marks every process of this server, so that none outlives it. */
  readonly serverTag: { name: string; value: string }
}

/** Rounds of killing, for processes that were forked during the one before. */
const KILL_ROUNDS = 20
const KILL_PAUSE_MS = 10
export const SANDBOX_TAG = 'DAYTONA_SANDBOX_ID'

/** The daemon of one running sandbox. It lives from one start to the next stop; nothing it knows outlasts that. */
export class Toolbox {
  readonly sandboxId: string
  readonly workDir: string
  readonly homeDir: string
  readonly daemonDir: string
  readonly shell: string
  readonly knobs: DaytonaKnobs
  readonly random: SeededRandom
  readonly now: () => number
  readonly sessions: SessionRegistry
  readonly ptys: PtyRegistry
  readonly #env: Record<string, string>
  readonly #groups = new Set<ProcessGroup>()
  readonly #closing = new AbortController()

  constructor(record: SandboxRecord, context: ToolboxContext) {
    this.sandboxId = record.id
    this.homeDir = record.roots.home
    this.workDir = record.roots.home
    this.daemonDir = record.roots.daemon
    this.knobs = context.knobs
    this.random = context.random
    this.now = context.now
    this.shell = daemonShell()
    this.#env = {
      PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
      LANG: 'C.UTF-8',
      HOME: this.homeDir,
      USER: record.user,
      SHELL: this.shell,
      TMPDIR: record.roots.tmp,
      ...record.env,
      [SANDBOX_TAG]: record.id,
      [context.serverTag.name]: context.serverTag.value,
    }
    mkdirSync(this.daemonDir, { recursive: true })
    this.sessions = new SessionRegistry(this)
    this.ptys = new PtyRegistry(this)
  }

  /** Aborts when the container goes away under whatever is running. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** For processes started from now on. */
  env(extra: Record<string, string> = {}): Record<string, string> {
    return { ...this.#env, ...extra }
  }

  updateEnv(set: Record<string, string>, unset: readonly string[]): void {
    Object.assign(this.#env, set)
    for (const name of unset) delete this.#env[name]
  }

  resolvePath(path: string): string {
    return isAbsolute(path) ? path : join(this.workDir, path)
  }

  /** The group that a process leads which was started just now; undefined for one that could not be started. */
  trackGroup(leader: number | undefined): ProcessGroup | undefined {
    if (leader === undefined) return undefined
    const group = processGroup(leader)
    this.#groups.add(group)
    return group
  }

  untrackGroup(group: ProcessGroup | undefined): void {
    if (group !== undefined) this.#groups.delete(group)
  }

  /** What a request that was under way gets when the container is gone. */
  goneError(): Error {
    return proxyError(502, 'bad gateway: connection to the sandbox was lost')
  }

  /** Ends every process and every connection. Repeatable. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    for (let round = 0; round < KILL_ROUNDS; round += 1) {
      const alive = await this.#killOnce()
      if (alive === 0) break
      await new Promise((resolve) => setTimeout(resolve, KILL_PAUSE_MS))
    }
    await this.sessions.close()
  }

  async #killOnce(): Promise<number> {
    const processes = await listProcesses()
    const pids = new Set(processesWithEnv(SANDBOX_TAG, this.sandboxId))
    for (const group of this.#groups) {
      if (isReused(group)) continue
      for (const entry of processes) if (entry.pgid === group.id) pids.add(entry.pid)
      for (const pid of descendantsOf(group.id, processes)) pids.add(pid)
    }
    const alive = new Set(processes.map((entry) => entry.pid))
    return [...pids].filter((pid) => alive.has(pid) && signalProcess(pid, 'SIGKILL')).length
  }
}

/** The first of zsh and bash that `/etc/shells` names, else `$SHELL`, else `sh` [D190]. */
function daemonShell(): string {
  const known = existsSync('/etc/shells') ? readFileSync('/etc/shells', 'utf8').split('\n') : []
  for (const name of ['zsh', 'bash']) {
    const shell = known.find((line) => line.endsWith(`/${name}`) && existsSync(line))
    if (shell !== undefined) return shell
  }
  return process.env['SHELL'] ?? '/bin/sh'
}
