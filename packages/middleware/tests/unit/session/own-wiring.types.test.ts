import type { HoldfastStores } from '@holdfast/core'
import { memoryStream, toServerSentEventsResponse } from '@tanstack/ai'
import type { StreamChunk, StreamDurability } from '@tanstack/ai'
import type { SandboxDefinition } from '../../../src/definition/sandbox-definition.ts'
import { durableLog } from '../../../src/runs/durable-log.ts'
import type { Run } from '../../../src/runs/run.ts'
import { withSandbox } from '../../../src/session/with-sandbox.ts'

declare const sandbox: SandboxDefinition
declare const stores: HoldfastStores
declare const request: Request
declare const stream: AsyncIterable<StreamChunk>
declare const run: Run

const { runs } = stores
const durability = { adapter: durableLog({ stores, request }) }

/** One object for both ends of TanStack's wiring. */
export const middleware = withSandbox(sandbox, { runs, durability })
export const response = toServerSentEventsResponse(stream, { durability })

/** All that TanStack's own options have. */
export const whole = withSandbox(sandbox, {
  runs,
  durability: {
    ...durability,
    detachOnDisconnect: false,
    attach: false,
    journal: '/tmp/journals',
    pollIntervalMs: 500,
    detachedRunTtl: '30m',
  },
})

export const plain = withSandbox(sandbox)
export const claimed = withSandbox(sandbox, { run })
export const byName = durableLog({ stores, runId: 'run-1', offset: null })

// @ts-expect-error -- half of the pair
withSandbox(sandbox, { runs })
// @ts-expect-error -- the other half
withSandbox(sandbox, { durability })
// @ts-expect-error -- a claimed run has its log already
withSandbox(sandbox, { run, runs, durability })

const foreign: { adapter: StreamDurability } = { adapter: memoryStream(request) }
// @ts-expect-error -- nothing could be claimed for it
withSandbox(sandbox, { runs, durability: foreign })
// @ts-expect-error -- whose log?
durableLog({ stores })
