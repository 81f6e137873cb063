import { reviveMessages } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import type { ModelMessage, UIMessage } from '@tanstack/ai'
import type { ChatRequest } from '../runs/request-body.ts'
import type { Tenant } from '../runs/tenant.ts'

/** A send that waits for its thread: all that another host needs to start it. */
export interface QueuedSend {
  chat: ChatRequest
  tenant: Tenant
}

const NAMESPACE = 'holdfast-queued-send'

export async function saveQueuedSend({ metadata }: HoldfastStores, send: QueuedSend): Promise<void> {
  await metadata.set(NAMESPACE, send.chat.runId, send)
}

/** Null when it does not wait, or not any more. */
export async function findQueuedSend({ metadata }: HoldfastStores, runId: string): Promise<QueuedSend | null> {
  const stored = (await metadata.get(NAMESPACE, runId)) as QueuedSend | null
  if (stored === null) return null
  const messages = reviveMessages(stored.chat.messages) as (UIMessage | ModelMessage)[]
  return { ...stored, chat: { ...stored.chat, messages } }
}

export async function forgetQueuedSend({ metadata }: HoldfastStores, runId: string): Promise<void> {
  await metadata.delete(NAMESPACE, runId)
}
