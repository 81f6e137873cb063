import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'vite'

export interface HostEvent {
  name: string
  event: string
  token?: number
  aborted?: boolean
}

/** Bundles the program of a host process once, so that plain Node can run it. */
export async function buildHostProgram(): Promise<{ path: string; remove: () => void }> {
  const root = join(import.meta.dirname, '../..')
  // Inside the package, so that what is not bundled is found; ignored by every tool, should a killed run leave it.
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  const outDir = mkdtempSync(join(root, 'node_modules/.host-'))
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['@holdfast/source'] },
    ssr: { noExternal: [/^@holdfast\//], resolve: { conditions: ['@holdfast/source'] } },
    build: {
      ssr: join(import.meta.dirname, 'host-process.ts'),
      outDir,
      emptyOutDir: false,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'host.mjs' } },
    },
  })
  return { path: join(outDir, 'host.mjs'), remove: () => rmSync(outDir, { recursive: true, force: true }) }
}

/** One running host. `events` grows as it tells what happens. */
export class HostProcess {
  readonly child: ChildProcess
  readonly events: HostEvent[] = []
  readonly exited: Promise<void>
  #stderr = ''

  constructor(program: string, job: { kind: string; url: string; name: string; lockTtlMs?: number }) {
    this.child = spawn(process.execPath, [program, JSON.stringify(job)], { stdio: ['pipe', 'pipe', 'pipe'] })
    this.child.stderr?.on('data', (data: Buffer) => (this.#stderr += data.toString()))
    const { stdout } = this.child
    if (stdout !== null)
      createInterface({ input: stdout }).on('line', (line) => this.events.push(JSON.parse(line) as HostEvent))
    this.exited = new Promise((resolve) => this.child.once('exit', () => resolve()))
  }

  get stderr(): string {
    return this.#stderr
  }

  count(event: string): number {
    return this.events.filter((each) => each.event === event).length
  }

  /** Until it has told of `event`; fails with what it wrote to stderr when it ends without. */
  async until(event: string): Promise<void> {
    while (this.count(event) === 0) {
      if (this.child.exitCode !== null) throw new Error(`The host ended with ${this.child.exitCode}: ${this.#stderr}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  /** Lets it finish what it does. */
  finish(): void {
    this.child.stdin?.end()
  }
}
