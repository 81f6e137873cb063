import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import {
  adoptRun,
  beginRun,
  cancelRun,
  createChatDriver,
  defineSandbox,
  sandboxTools,
  stopRuns,
} from '@holdfast/middleware'
import type { ChatRequest } from '@holdfast/middleware'
import { isExpectedRefusal } from './expected-refusals.ts'
import { isFinal } from './final-event.ts'
import { interposedStores } from './interposed-stores.ts'
import { LeaseLocks } from './lease-locks.ts'
import type { Mutant } from './mutant.ts'
import { observedStores } from './observed-stores.ts'
import { scriptModel } from './run-script.ts'
import type { RunScript } from './run-script.ts'
import { SandboxService } from './sandbox-service.ts'
import { answersTo, GUARDED, SimApprovals } from './sim-approvals.ts'
import { SimHost } from './sim-host.ts'
import { simTools } from './sim-tools.ts'
import { SimViewer } from './sim-viewer.ts'
import { codeOf } from './sim-world.ts'
import type { SimWorld } from './sim-world.ts'

export interface StageOptions {
  providerFailRate: number
  destroyOnComplete: boolean
  mutant: Mutant | undefined
}

/** More would only stand in each other's way. */
const MAX_ANSWERS = 2

const POLICY = { default: 'allow', commands: { ask: [`${GUARDED} *`] } } as const

/** The hosts, what they share, and what people do with them. */
export class SimStage {
  readonly world: SimWorld
  readonly stores: HoldfastStores
  readonly service: SandboxService
  readonly hosts: SimHost[] = []
  readonly viewers: SimViewer[] = []
  readonly scripts = new Map<string, RunScript>()
  readonly effects = new Map<string, number>()
  /** Runs whose sandbox somebody wants to keep. */
  readonly #kept = new Set<string>()
  /** How many people have answered each run that waits. */
  readonly #answered = new Map<string, number>()
  readonly #locks: LeaseLocks
  readonly #options: StageOptions

  constructor(world: SimWorld, options: StageOptions) {
    this.world = world
    this.#options = options
    this.#locks = new LeaseLocks(world)
    const memory = createMemoryStores({ clock: world.clock })
    const threadOf = (step: string): string | undefined => this.scripts.get(step.split('.')[0] ?? '')?.threadId
    const approvals = new SimApprovals(world, memory, threadOf)
    this.service = new SandboxService(world, (command) => approvals.runs(command))
    const shared = options.mutant?.shared?.(memory) ?? memory
    this.stores = observedStores(world, shared, async (runId, status, purpose) => {
      if (status === 'aborted' && purpose === 'drive') await this.#checkSandboxGone(runId)
    })
  }

  get upHosts(): SimHost[] {
    return this.hosts.filter((host) => host.isUp)
  }

  addHost(): SimHost {
    const { world } = this
    const { mutant, providerFailRate, destroyOnComplete } = this.#options
    const host = new SimHost(world, `host-${this.hosts.length + 1}`)
    const own = interposedStores(world, host, this.stores, this.#locks)
    const stores = mutant?.stores?.(own, host) ?? own
    const provider = this.service.providerOf(host, providerFailRate)
    const definition = defineSandbox({ id: 'sim', provider, lifecycle: { destroyOnComplete }, policy: POLICY })
    const sandbox = mutant?.sandbox?.(definition) ?? definition
    const plain = createChatDriver({
      stores,
      sandbox,
      tools: [...simTools(world, host, this.effects), ...sandboxTools({ include: ['bash'] })],
      model: ({ runId }) => scriptModel(world, host, this.#scriptOf(runId)),
    })
    host.parts = { stores, provider, sandbox, driver: mutant?.driver?.(plain) ?? plain }
    this.hosts.push(host)
    return host
  }

  #scriptOf(runId: string): RunScript {
    const script = this.scripts.get(runId)
    if (script === undefined) throw new TypeError(`No script for ${runId}.`)
    return script
  }

  /** A person sends a message, or sends it once more because no answer came. */
  send(host: SimHost, script: RunScript, viewer = this.#addViewer(script.runId)): SimViewer {
    const { runId, threadId } = script
    this.scripts.set(runId, script)
    this.world.note(`${viewer.name} sends ${runId} to ${host.name}`)
    const stream = viewer.begin(host)
    const sent = this.#begin(host, script, { viewer, stream }).catch((error: unknown) => {
      viewer.isCut = true
      // Somebody else has decided: this person is told, and waits for nothing.
      if (codeOf(error) === 'INTERRUPT_CONFLICT') viewer.leave()
      this.#expectRefusal(`send ${runId}`, error)
    })
    void this.world.expectEnd(host, `send ${runId} of ${threadId} to ${host.name}`, sent)
    return viewer
  }

  async #begin(
    host: SimHost,
    { runId, threadId, resume }: RunScript,
    to: { viewer: SimViewer; stream: number },
  ): Promise<void> {
    const { stores, driver } = host.parts
    const words = [{ role: 'user' as const, id: `${runId}-user`, content: `Do ${runId}.` }]
    const turn = resume === undefined ? { messages: words } : { messages: [], resume: [...resume] }
    const chat = { runId, threadId, ...turn, forwardedProps: {} } as ChatRequest
    const run = await beginRun({ stores, clock: host.clock, chat })
    void this.world.expectEnd(host, `drive ${runId} on ${host.name}`, run.session.ended)
    const response = run.respond(driver.drive(run, { forwardedProps: {} }), {
      keepAliveMs: 120_000,
      onFailure: (error) => this.#expectRefusal(`drive ${runId}`, error),
    })
    to.viewer.watch(to.stream, host, response)
  }

  /** A person decides what a thread waits for, perhaps at the same time as another one. */
  async answer(host: SimHost, threadId: string): Promise<void> {
    const pauses = await this.stores.interrupts.listPending(threadId)
    const waiting = this.scripts.get(pauses.at(-1)?.runId ?? '')
    const answered = this.#answered.get(waiting?.runId ?? '') ?? 0
    if (waiting === undefined || answered >= MAX_ANSWERS) return
    this.#answered.set(waiting.runId, answered + 1)
    const asked = pauses.filter((pause) => pause.runId === waiting.runId)
    const isApproved = this.world.random.chance(0.7)
    const runId = `answer-${this.scripts.size + 1}`
    this.world.note(`a person says ${isApproved ? 'yes' : 'no'} to ${waiting.runId}`)
    this.send(host, { ...waiting, runId, resume: answersTo(asked, isApproved) })
  }

  #addViewer(runId: string, startOffset = '-1'): SimViewer {
    const viewer = new SimViewer(this.world, { name: `viewer-${this.viewers.length + 1}`, runId, startOffset })
    this.viewers.push(viewer)
    return viewer
  }

  /** Somebody else begins to watch, from the start or from the middle. */
  async addWatcher(host: SimHost, runId: string): Promise<void> {
    const log = await this.stores.eventLog.open({ runId }).snapshot()
    const entry = this.world.random.chance(0.5) ? undefined : log[this.world.random.whole(0, log.length - 1)]
    // Who has seen the last event of a run does not ask for more.
    if (!isFinal(entry?.chunk)) void this.#addViewer(runId, entry?.offset ?? '-1').join(host)
  }

  cancel(host: SimHost, runId: string, keepSandbox: boolean): void {
    this.world.note(`cancel ${runId} on ${host.name}`)
    if (keepSandbox) this.#kept.add(runId)
    const cancelled = cancelRun({ stores: host.parts.stores, clock: host.clock, runId, keepSandbox })
    const handled = cancelled.catch((error: unknown) => this.#expectRefusal(`cancel ${runId}`, error))
    void this.world.expectEnd(host, `cancel ${runId} on ${host.name}`, handled)
  }

  adopt(host: SimHost, runId: string, withDriver: boolean): Promise<void> {
    const { stores, driver } = host.parts
    const adopted = adoptRun({ stores, runId, clock: host.clock, ...(withDriver ? { driver } : {}) }).then(
      (result) => this.world.note(`${host.name} adopts ${runId}: ${result}`),
      (error: unknown) => this.#expectRefusal(`adopt ${runId}`, error),
    )
    return this.world.expectEnd(host, `adopt ${runId} on ${host.name}`, adopted)
  }

  /** A host that ends its own run for a person's cancel leaves no sandbox, unless it was asked to or could not. */
  async #checkSandboxGone(runId: string): Promise<void> {
    const threadId = this.scripts.get(runId)?.threadId
    if (threadId === undefined || this.#kept.has(runId)) return
    const { records = [] } = (await this.stores.instances.list?.({ threadId })) ?? {}
    for (const { state = 'ready', providerSandboxId, latestRunId } of records) {
      if (state === 'ready' && latestRunId === runId && this.service.sandboxes.has(providerSandboxId)) {
        this.world.fault(`run ${runId} was cancelled, and its sandbox stays`)
      }
    }
  }

  /** A clean shutdown. */
  stop(host: SimHost): void {
    this.world.note(`${host.name} shuts down`)
    const stopped = stopRuns(host.parts.stores).then(() => host.crash())
    void this.world.expectEnd(host, `stop ${host.name}`, stopped)
  }

  #expectRefusal(what: string, error: unknown): void {
    const code = codeOf(error)
    this.world.note(`${what} is refused: ${code}`)
    if (!isExpectedRefusal(code)) this.world.fault(`${what} failed with ${code} ${String(error)}`)
  }
}
