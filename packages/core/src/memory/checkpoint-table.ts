import type { SandboxCheckpoint } from '../content/checkpoint.ts'

export interface WriterRow {
  ownerToken: string
  fence: number
  expiresAt: number
}

/** Checkpoints, heads and writer leases by thread. */
export class CheckpointTable {
  readonly #checkpoints = new Map<string, SandboxCheckpoint>()
  readonly #byThread = new Map<string, Set<string>>()
  readonly #heads = new Map<string, string>()
  readonly #writers = new Map<string, WriterRow>()
  #lastFence = 0

  find(checkpointId: string): SandboxCheckpoint | undefined {
    return this.#checkpoints.get(checkpointId)
  }

  all(): Iterable<SandboxCheckpoint> {
    return this.#checkpoints.values()
  }

  ofThread(threadId: string): SandboxCheckpoint[] {
    return [...(this.#byThread.get(threadId) ?? [])].map((id) => this.#checkpoints.get(id) as SandboxCheckpoint)
  }

  findHead(threadId: string): string | null {
    return this.#heads.get(threadId) ?? null
  }

  /** Stores a checkpoint that nobody else holds a reference to, and makes it the head. */
  append(checkpoint: SandboxCheckpoint): void {
    const { id, threadId } = checkpoint
    this.#checkpoints.set(id, checkpoint)
    const siblings = this.#byThread.get(threadId)
    if (siblings === undefined) this.#byThread.set(threadId, new Set([id]))
    else siblings.add(id)
    this.#heads.set(threadId, id)
  }

  /** Removes the head of its thread; its parent becomes the head. */
  deleteHead(checkpoint: SandboxCheckpoint): string | null {
    const { id, threadId, parentCheckpointId } = checkpoint
    this.#checkpoints.delete(id)
    const siblings = this.#byThread.get(threadId)
    siblings?.delete(id)
    if (siblings?.size === 0) this.#byThread.delete(threadId)
    if (parentCheckpointId === null) this.#heads.delete(threadId)
    else this.#heads.set(threadId, parentCheckpointId)
    return parentCheckpointId
  }

  /** Removes a checkpoint that is no head. Those that name it as their parent stay. */
  delete({ id, threadId }: SandboxCheckpoint): void {
    this.#checkpoints.delete(id)
    this.#byThread.get(threadId)?.delete(id)
  }

  deleteThread(threadId: string): void {
    for (const { id } of this.ofThread(threadId)) this.#checkpoints.delete(id)
    this.#byThread.delete(threadId)
    this.#heads.delete(threadId)
    this.#writers.delete(threadId)
  }

  findWriter(threadId: string): WriterRow | undefined {
    return this.#writers.get(threadId)
  }

  /** Makes a lease whose fence is larger than any before it. */
  saveWriter(threadId: string, ownerToken: string, expiresAt: number): WriterRow {
    this.#lastFence += 1
    const writer = { ownerToken, fence: this.#lastFence, expiresAt }
    this.#writers.set(threadId, writer)
    return writer
  }

  deleteWriter(threadId: string): void {
    this.#writers.delete(threadId)
  }
}
