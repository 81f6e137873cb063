import type { Checkpoints } from '../checkpoints/checkpoints.ts'
import { createCheckpoints } from '../checkpoints/create-checkpoints.ts'
import type { ChatRouteContext } from './chat-route.ts'

const known = new WeakMap<ChatRouteContext, Checkpoints>()

/** The checkpoints of the routes' own stores, made by the first request that needs them. */
export function checkpointsOf(context: ChatRouteContext): Checkpoints {
  const made = known.get(context)
  if (made !== undefined) return made
  const { stores, sandbox, clock, checkpoints: { policy, limits } = {} } = context.options
  const checkpoints = createCheckpoints({
    stores,
    sandbox,
    ...(policy === undefined ? {} : { policy }),
    ...(limits === undefined ? {} : { limits }),
    ...(clock === undefined ? {} : { clock }),
  })
  known.set(context, checkpoints)
  return checkpoints
}
