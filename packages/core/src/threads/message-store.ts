import type { ModelMessage } from '@tanstack/ai'
import type { WriteFence } from '../runs/driver-store.ts'

/** The transcript of a thread. Messages are copies on the way in and out; ids and times are kept. */
export interface MessageStore {
  /** `[]` for a thread that was never saved. */
  loadThread: (threadId: string) => Promise<ModelMessage[]>
  /** Full replace, in one atomic step. With a fence it is refused (`DRIVER_LOST`) once another driver has claimed the run. */
  saveThread: (threadId: string, messages: ModelMessage[], fence?: WriteFence) => Promise<void>
}
