import { IDEMPOTENT } from '@holdfast/middleware'
import { toolDefinition } from '@tanstack/ai'
import type { AnyTool } from '@tanstack/ai'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

/** What tools did to the outside, by step: each entry is one time that it took effect. */
export type Effects = Map<string, number>

const INPUT = { type: 'object', properties: { step: { type: 'string' } }, required: ['step'] }

/** `work` has side effects; `peek` may be repeated. */
export function simTools(world: SimWorld, host: SimHost, effects: Effects): AnyTool[] {
  const tool = (name: string, isIdempotent: boolean): AnyTool =>
    toolDefinition({
      name,
      description: `Does ${name}.`,
      inputSchema: INPUT,
      metadata: { [IDEMPOTENT]: isIdempotent },
    }).server(async (args: unknown) => {
      const step = String(Reflect.get(args as object, 'step'))
      await world.send(host, `tool ${step}`, 'outside', async () => {
        const times = (effects.get(step) ?? 0) + 1
        effects.set(step, times)
        if (!isIdempotent && times > 1) world.fault(`tool step ${step} took effect ${times} times`)
      })
      return { done: step }
    }) as unknown as AnyTool
  return [tool('work', false), tool('peek', true)]
}
