import type { Clock } from '@holdfast/core'
import type { Database } from './database/database.ts'
import type { WakeHub } from './wake/wake-hub.ts'

/** What the stores of one backend share. */
export interface StoreContext {
  readonly db: Database
  readonly hub: WakeHub
  readonly clock: Clock
  /** Where statements that notify by themselves do so. */
  readonly channel: string
}
