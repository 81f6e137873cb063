import { assertFence, assertId, DriverLostError, InvalidInputError } from '@holdfast/core'
import type { MessageStore } from '@holdfast/core'
import { text } from '../database/row.ts'
import { loadMessages, saveMessages } from '../statements/messages.ts'
import type { StoreContext } from '../store-context.ts'
import { decodeMessage, encodeMessage } from './message-json.ts'

export class SqlMessageStore implements MessageStore {
  readonly #context: StoreContext

  constructor(context: StoreContext) {
    this.#context = context
  }

  loadThread: MessageStore['loadThread'] = async (threadId) => {
    assertId('threadId', threadId)
    const rows = await this.#context.db.rows(loadMessages, [threadId])
    return rows.map((row) => decodeMessage(text(row, 'body')))
  }

  saveThread: MessageStore['saveThread'] = async (threadId, messages, fence) => {
    assertId('threadId', threadId)
    if (!Array.isArray(messages)) throw new InvalidInputError('INVALID_ARGUMENT', 'messages must be a list.')
    if (fence !== undefined) assertFence(fence)
    const bodies = JSON.stringify(messages.map(encodeMessage))
    const params = [threadId, bodies, fence?.runId ?? null, fence?.epoch ?? null]
    const row = await this.#context.db.row(saveMessages, params)
    if (fence !== undefined && row?.['is_saved'] !== true) throw new DriverLostError(fence)
  }
}
