import type { AttachRunInput } from '../runs/attach-run.ts'
import type { ChatRouteContext } from './chat-route.ts'

/** What every attach of the routes shares. */
export function attachOptions({
  options,
  driver,
}: ChatRouteContext): Pick<AttachRunInput, 'stores' | 'clock' | 'driver'> {
  const { stores, clock, takeOver = true } = options
  return { stores, ...(clock === undefined ? {} : { clock }), ...(takeOver ? { driver } : {}) }
}
