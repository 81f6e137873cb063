import type { ModelMessage } from '@tanstack/ai'
import { DriverLostError, InvalidInputError } from '../errors/error-classes.ts'
import { decodeJson, encodeExactJson } from '../exact-json.ts'
import { assertId } from '../identifier.ts'
import { assertFence } from '../runs/driver-check.ts'
import type { WriteFence } from '../runs/driver-store.ts'
import { reviveMessages } from '../threads/message-json.ts'
import type { MessageStore } from '../threads/message-store.ts'
import { MemoryState } from './memory-state.ts'

/** Transcripts, in memory. */
export class MemoryMessageStore implements MessageStore {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async loadThread(threadId: string): Promise<ModelMessage[]> {
    this.#state.assertOpen()
    const text = this.#state.messages.get(assertId('threadId', threadId))
    return text === undefined ? [] : reviveMessages(decodeJson(text, 'transcript'))
  }

  async saveThread(threadId: string, messages: ModelMessage[], fence?: WriteFence): Promise<void> {
    this.#state.assertOpen()
    assertId('threadId', threadId)
    if (!Array.isArray(messages)) throw new InvalidInputError('INVALID_ARGUMENT', 'messages must be an array.')
    if (fence !== undefined) assertFence(fence)
    const text = encodeExactJson(messages)
    if (fence !== undefined && this.#state.runs.findDriver(fence.runId)?.epoch !== fence.epoch) {
      throw new DriverLostError({ runId: fence.runId, epoch: fence.epoch })
    }
    this.#state.messages.set(threadId, text)
  }
}
