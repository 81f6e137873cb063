import { randomBytes } from 'node:crypto'
import { apiError } from '../http/wire-error.ts'
import { Toolbox, type ToolboxContext } from '../toolbox/toolbox.ts'
import { isEphemeral, type DesiredState, type SandboxRecord } from './sandbox-record.ts'
import { archiveRoots, copyTree, createRoots, removeRoots, restoreRoots } from './sandbox-roots.ts'
import type { SandboxRegistry } from './sandbox-registry.ts'
import type { SandboxTransitions, TransitionStep } from './sandbox-transitions.ts'

export interface LifecycleContext {
  readonly registry: SandboxRegistry
  readonly transitions: SandboxTransitions
  readonly toolboxContext: () => ToolboxContext
  readonly now: () => number
}

const IN_TRANSITION = 'Sandbox state change in progress'
const ERRORED = 'Sandbox is in an errored state'

/** Which request is legal in which state, and what it sets going. */
export class SandboxLifecycle {
  readonly #context: LifecycleContext

  constructor(context: LifecycleContext) {
    this.#context = context
  }

  /** Brings a new record to `started`. `fill` makes its directories. */
  launch(record: SandboxRecord, before: readonly TransitionStep[], fill: () => Promise<void>): void {
    const create: TransitionStep = {
      through: 'creating',
      end: async () => {
        await fill()
        this.#boot(record)
      },
    }
    this.#run(record, 'started', [...before, create], 'started')
  }

  start(record: SandboxRecord): void {
    if (record.state === 'started' && !record.job) return
    if (record.state === 'archiving') record.job?.cancel.abort()
    else this.#refuseInTransition(record)
    if (isErrored(record)) throw apiError(400, ERRORED)
    const before = record.job?.done
    const boot = async (): Promise<void> => {
      await before
      await restoreRoots(record.roots)
      this.#boot(record)
    }
    switch (record.state) {
      case 'archiving':
      case 'stopped':
        return this.#run(record, 'started', [{ through: 'starting', end: boot }], 'started')
      case 'archived':
        return this.#restore(record)
      case 'paused':
        return this.#run(record, 'started', [{ through: 'resuming' }], 'started')
      default:
        throw apiError(400, 'Sandbox is not in valid state')
    }
  }

  stop(record: SandboxRecord): void {
    this.#refuseInTransition(record)
    if (isErrored(record)) throw apiError(400, ERRORED)
    if (!['started', 'paused'].includes(record.state)) throw apiError(400, 'Sandbox is not in a stoppable state')
    const stopping: TransitionStep = { through: 'stopping', begin: () => this.#halt(record) }
    if (!isEphemeral(record)) return this.#run(record, 'stopped', [stopping], 'stopped')
    this.#markDestroyed(record)
    this.#run(record, 'destroyed', [stopping, this.#destroying(record)], 'destroyed')
  }

  pause(record: SandboxRecord): void {
    if (record.sandboxClass === 'container') throw apiError(422, 'Sandbox class container does not support pausing')
    this.#refuseInTransition(record)
    if (record.state !== 'started') throw apiError(400, 'Sandbox is not started')
    this.#run(record, 'paused', [{ through: 'pausing' }], 'paused')
  }

  archive(record: SandboxRecord): void {
    this.#refuseInTransition(record)
    if (isErrored(record)) throw apiError(400, ERRORED)
    if (record.state !== 'stopped') throw apiError(400, 'Sandbox is not stopped')
    if (isEphemeral(record)) throw apiError(400, 'Ephemeral sandboxes cannot be archived')
    record.backupState = 'Pending'
    const archiving: TransitionStep = {
      through: 'archiving',
      end: async () => {
        record.backupState = 'Completed'
        record.backupCreatedAt = this.#context.now()
        await archiveRoots(record.roots)
      },
    }
    this.#run(record, 'archived', [archiving], 'archived')
    record.backupState = 'InProgress'
  }

  /** The name is free at once, and the answer carries the odd one [A190]. */
  destroy(record: SandboxRecord): void {
    if (record.state === 'archiving') record.job?.cancel.abort()
    else if (record.state !== 'pending_build') this.#refuseInTransition(record)
    else record.job?.cancel.abort()
    if (this.#context.registry.childrenOf(record.id).length > 0)
      throw apiError(400, 'Sandbox has active forks; delete them first')
    this.#markDestroyed(record)
    this.#run(record, 'destroyed', [this.#destroying(record)], 'destroyed')
  }

  resize(record: SandboxRecord, size: { cpu?: number; memory?: number; disk?: number }): void {
    this.#refuseInTransition(record)
    const before = record.state
    if (!['started', 'stopped'].includes(before))
      throw apiError(400, 'Sandbox must be started or stopped to be resized')
    const { cpu = record.cpu, memory = record.memory, disk = record.disk } = size
    if (before === 'started' && (cpu < record.cpu || memory < record.memory || disk !== record.disk))
      throw apiError(400, 'A started sandbox can only get more cpu and memory')
    if (disk < record.disk) throw apiError(400, 'Disk size cannot be decreased')
    const end = async (): Promise<void> => void Object.assign(record, { cpu, memory, disk })
    this.#run(record, record.desiredState, [{ through: 'resizing', end }], before)
  }

  recover(record: SandboxRecord): void {
    this.#refuseInTransition(record)
    if (record.state !== 'error') throw apiError(400, 'Sandbox is not in an error state')
    if (!record.recoverable) throw apiError(400, 'Sandbox is not recoverable')
    record.errorReason = null
    record.recoverable = false
    if (record.backupState === 'Completed') return this.#restore(record)
    this.#run(record, 'started', [{ through: 'starting', end: async () => this.#boot(record) }], 'started')
  }

  /** `save` copies the files; what it throws is swallowed, as the runners do [A190]. */
  snapshot(record: SandboxRecord, save: (root: string) => Promise<void>): void {
    this.#refuseInTransition(record)
    const before = record.state
    if (!['started', 'stopped'].includes(before))
      throw apiError(400, 'Sandbox must be started or stopped to be snapshotted')
    const end = (): Promise<void> => save(record.roots.root)
    this.#run(record, record.desiredState, [{ through: 'snapshotting', end }], before)
  }

  fork(record: SandboxRecord, child: SandboxRecord): void {
    if (record.sandboxClass === 'container') throw apiError(422, 'Sandbox class container does not support forking')
    this.#refuseInTransition(record)
    if (record.state !== 'started') throw apiError(400, 'Sandbox is not started')
    const copy = copyTree(record.roots.root, child.roots.root)
    this.#run(record, 'started', [{ through: 'forking', end: () => copy }], 'started')
    this.launch(child, [], async () => {
      await copy
      await createRoots(child.roots)
    })
  }

  /** What the runner does when the container dies under it, with no request by anybody. */
  async kill(record: SandboxRecord): Promise<void> {
    record.job?.cancel.abort()
    this.#run(record, 'stopped', [{ through: 'stopping', begin: () => this.#halt(record) }], 'stopped')
    await record.job?.done
  }

  /** Gives a transition up that takes too long. */
  abandon(record: SandboxRecord, reason: string): void {
    record.job?.cancel.abort()
    record.job = null
    this.#context.transitions.fail(record, new Error(reason))
  }

  /** Puts a sandbox into any state, legal or not. Entering `started` boots it, leaving it halts it. */
  async force(record: SandboxRecord, state: string): Promise<void> {
    record.job?.cancel.abort()
    record.job = null
    if (state === 'started') {
      await restoreRoots(record.roots)
      if (!record.toolbox) this.#boot(record)
    } else await this.#halt(record)
    if (state === 'archived' && record.state !== 'archived') {
      await archiveRoots(record.roots)
      record.backupState = 'Completed'
    }
    if (state === 'destroyed') {
      this.#markDestroyed(record)
      await removeRoots(record.roots)
    }
    if (state === 'started' || state === 'stopped' || state === 'archived') record.desiredState = state
    this.#context.transitions.set(record, state)
  }

  #restore(record: SandboxRecord): void {
    const restore: TransitionStep = { through: 'restoring', end: () => restoreRoots(record.roots) }
    const starting: TransitionStep = { through: 'starting', end: async () => this.#boot(record) }
    this.#run(record, 'started', [restore, starting], 'started')
  }

  #destroying(record: SandboxRecord): TransitionStep {
    return {
      through: 'destroying',
      begin: () => this.#halt(record),
      end: () => removeRoots(record.roots),
    }
  }

  #markDestroyed(record: SandboxRecord): void {
    if (record.desiredState === 'destroyed') return
    record.name = `DESTROYED_${record.name}_${this.#context.now()}`
    record.desiredState = 'destroyed'
  }

  #run(record: SandboxRecord, desired: DesiredState, steps: readonly TransitionStep[], target: string): void {
    record.desiredState = desired
    this.#context.transitions.run(record, steps, () => target)
  }

  #refuseInTransition(record: SandboxRecord): void {
    if (record.job) throw apiError(409, IN_TRANSITION)
  }

  /** A start from stopped or archived gives the sandbox a new token [A190]. */
  #boot(record: SandboxRecord): void {
    record.authToken = randomBytes(16).toString('hex')
    record.toolbox = new Toolbox(record, this.#context.toolboxContext())
  }

  async #halt(record: SandboxRecord): Promise<void> {
    const toolbox = record.toolbox
    record.toolbox = null
    await toolbox?.close()
  }
}

function isErrored(record: SandboxRecord): boolean {
  return ['error', 'build_failed'].includes(record.state)
}
