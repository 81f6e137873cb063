import { setTimeout as wait } from 'node:timers/promises'
import { isHoldfastError } from '@holdfast/core'
import type { SandboxCheckpoint } from '@holdfast/core'
import { artifactsAt, checkpointsOf, LAST_STAGE, textsAt, treeOf } from './checkpoint-stages.ts'
import type { Stage, StagedThread } from './checkpoint-stages.ts'
import { crashSandbox, eventsOf, LEASE_MS, sendRequest } from './crash-app.mjs'
import type { SecondHost } from './crash-round.ts'
import { endedRecord } from './ended-record.ts'
import { labelOf, sandboxesWith } from './thread-sandboxes.ts'

export type CheckpointOperation = 'save' | 'restore' | 'rewind' | 'fork'

/** What a dead host may keep others from, and how long a slow machine may take to see that it does not. */
const PATIENCE_MS = LEASE_MS + 12_000
const RETRY_MS = 200

/** Looks at a thread whose host died, as the next host that has to do with it. */
export class CheckpointCheck {
  readonly faults: string[] = []
  readonly #second: SecondHost
  readonly #thread: StagedThread
  readonly #trees: ReadonlyMap<Stage, string>

  constructor(second: SecondHost, thread: StagedThread, trees: ReadonlyMap<Stage, string>) {
    this.#second = second
    this.#thread = thread
    this.#trees = trees
  }

  /** Answers what the thread's head was found at. */
  async run(operation: CheckpointOperation): Promise<string> {
    const { threadId, head, first } = this.#thread
    const found = await this.#head(threadId)
    const stage = this.#stageOf(operation, found)
    await this.#restorable(found, stage)
    if (operation === 'restore') await this.#restoredAgain(stage)
    if (operation === 'fork') await this.#fork()
    // The live sandbox was at the last stage, with or without a checkpoint of it; only a rewind may change that.
    await this.#nextRun(threadId, stage === 1 ? 1 : LAST_STAGE)
    const isOld = found.id === head
    if (found.id === first) this.faults.push('the head went back in its chain')
    await this.#remove(threadId)
    await this.#second.provider.destroy({ id: this.#thread.sandboxId })
    return isOld ? 'old' : found.reason
  }

  /** The head as it is stored, with every checkpoint before it and all bytes that it names. */
  async #head(threadId: string): Promise<SandboxCheckpoint> {
    const { checkpoints, blobs } = this.#second.stores
    const head = await checkpointsOf(this.#second).get({ threadId })
    for (let id = head.parentCheckpointId; id !== null;) {
      const parent = await checkpoints.get(id)
      if (parent === null) this.faults.push(`checkpoint ${id} is missing from the chain`)
      id = parent?.parentCheckpointId ?? null
    }
    const files = head.files.filter((entry) => entry.kind === 'file')
    const keys = [...files, ...head.artifacts].map(({ blobKey }) => blobKey)
    const stored = await blobs.headMany?.(keys)
    for (const key of keys) if (stored?.has(key) !== true) this.faults.push(`the bytes of ${key} are missing`)
    return head
  }

  #stageOf(operation: CheckpointOperation, { id, parentCheckpointId, reason }: SandboxCheckpoint): Stage {
    const { head } = this.#thread
    if (id === head) return 2
    if (operation === 'save' && parentCheckpointId === head && reason === 'named') return 3
    if (operation === 'rewind' && parentCheckpointId === head && reason === 'automatic') return 3
    if (operation === 'rewind' && reason === 'rewind') return 1
    this.faults.push(`the head is neither the old one nor a new one: ${reason}`)
    return 2
  }

  async #restorable(head: SandboxCheckpoint, stage: Stage): Promise<void> {
    const { provider } = this.#second
    const { threadId } = head
    const into = await provider.create({ id: `${threadId}-fresh` })
    await checkpointsOf(this.#second).restore({ threadId, into })
    this.#compare('the head in a fresh sandbox', await treeOf(into), stage)
    this.#expect('the conversation of the head', textsOf(head), textsAt(stage))
    await provider.destroy({ id: into.id })
  }

  async #restoredAgain(stage: Stage): Promise<void> {
    const { threadId, sandboxId } = this.#thread
    const into = await this.#second.provider.resume({ id: sandboxId })
    if (into === null) return void this.faults.push('the sandbox of the restore is gone')
    await checkpointsOf(this.#second).restore({ threadId, into })
    this.#compare('what was restored once more', await treeOf(into), stage)
  }

  /** The new thread is empty or forked; empty, it can be forked again. */
  async #fork(): Promise<void> {
    const { threadId, first, forkId } = this.#thread
    const checkpoints = checkpointsOf(this.#second)
    const before = await this.#second.stores.checkpoints.getHead(forkId)
    const again = await this.#patiently(() =>
      checkpoints
        .fork({ threadId, checkpointId: first, destinationThreadId: forkId })
        .then(() => 'forked')
        .catch((error: unknown) => {
          if (isHoldfastError(error, 'SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY')) return 'refused'
          throw error
        }),
    )
    this.#expect('to fork once more', again, before === null ? 'forked' : 'refused')
    await this.#restorable(await this.#head(forkId), 1)
    await this.#nextRun(forkId, 1)
    await this.#remove(forkId)
  }

  /** The next message is answered, from files, conversation and artifacts that belong together. */
  async #nextRun(threadId: string, stage: Stage): Promise<void> {
    const { stores, routes } = this.#second
    const runId = `${threadId}-next`
    const answered = await this.#patiently(async () => {
      const response = await routes.handle(sendRequest(runId, threadId))
      if (response.status === 409) throw new Error(await response.text())
      for await (const event of eventsOf(response)) void event
      return response.status
    })
    const record = await endedRecord(stores, runId)
    this.#expect('the next run', [answered, record?.status], [200, 'completed'])
    const head = await this.#head(threadId)
    this.#expect('the run of the head', head.sourceRunId, runId)
    this.#expect('the conversation', textsOf(head).slice(0, stage + 1), [...textsAt(stage), `Do ${runId}.`])
    const names = (await checkpointsOf(this.#second).artifacts.list({ threadId })).map(({ name }) => name)
    this.#expect('the artifacts', names.toSorted(), artifactsAt(stage))
    const live = await this.#live(threadId)
    if (live !== null) this.#compare('the live sandbox', await treeOf(live), stage)
  }

  async #live(threadId: string): ReturnType<ReturnType<typeof crashSandbox>['ensureExisting']> {
    const { stores, provider } = this.#second
    const sandboxes = (await sandboxesWith(this.#second, await labelOf(this.#second, threadId))).length
    this.#expect('the number of sandboxes', sandboxes, 1)
    const context = { threadId, runId: `${threadId}-look`, store: stores.instances, locks: stores.locks }
    return crashSandbox(provider).ensureExisting(context)
  }

  async #remove(threadId: string): Promise<void> {
    const url = `http://crash/api/threads/${threadId}`
    const { status } = await this.#second.routes.handle(new Request(url, { method: 'DELETE' }))
    this.#expect('deleting the thread', status, 204)
  }

  /** Tries until no lease of the dead host is in the way, or for as long as one may be. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    for (const deadline = performance.now() + PATIENCE_MS; ; await wait(RETRY_MS)) {
      try {
        return await work()
      } catch (error) {
        if (performance.now() > deadline) throw error
      }
    }
  }

  #compare(what: string, tree: string, stage: Stage): void {
    this.#expect(what, tree, this.#trees.get(stage))
  }

  #expect(what: string, actual: unknown, expected: unknown): void {
    const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
    if (seen !== wanted) this.faults.push(`${what}: ${seen} instead of ${wanted}`)
  }
}

function textsOf({ conversation }: SandboxCheckpoint): unknown[] {
  return conversation.map(({ content }) => content)
}
