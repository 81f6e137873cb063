import type { Clock, HoldfastStores } from '@holdfast/core'
import type { ChatRequest } from './request-body.ts'
import type { RunDriver } from './run-driver.ts'
import type { Tenant } from './tenant.ts'

/**
 * What happens to a send while another run holds its thread. `reject`: it is refused with `THREAD_BUSY`. `queue`: it waits
 * its turn, in the order of arrival, also when its host dies. `cancel-previous`: that run is cancelled, and its files are
 * kept where its processes provably died.
 */
export type WhenBusy = 'reject' | 'queue' | 'cancel-previous'

/** The request that begins a run, and on whose behalf. */
export interface BeginRunInput {
  stores: HoldfastStores
  /** TanStack's client request. Left out when `chat` gives what it says. */
  request?: Request
  chat?: ChatRequest
  /** On whose behalf, as the app's own authorization found out. A single user when left out. */
  tenant?: Tenant
  /** False: a viewer who leaves ends the run. Default true. */
  detachOnDisconnect?: boolean
  /** Default `reject`. */
  whenBusy?: WhenBusy
  /**
   * Continues a run that holds the thread and whose host died; without one such a run is settled, and the thread free. In
   * a queue it also starts the sends before this one whose host died.
   */
  driver?: RunDriver
  clock?: Clock
}
