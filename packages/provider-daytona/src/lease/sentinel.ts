import type { NormalizedDaytonaOptions } from '../options/daytona-options.ts'
import { sha256 } from '../naming.ts'

export interface SentinelInput {
  /** Who owns the lease: ids that stay the same for as long as it may be resumed. */
  owner: readonly string[]
  adapterName?: string | undefined
  snapshot?: string | undefined
}

/**
 * What a reusable sandbox was made from, as one hash. It is kept in the sandbox and in a label; a sandbox whose hash is
 * another one is not the one that the owner made with these options.
 */
export function sentinelHash(options: NormalizedDaytonaOptions, input: SentinelInput): string {
  const { image, snapshot, target, resources } = options
  const { cpu, memory, disk, gpu } = resources ?? {}
  return sha256(
    JSON.stringify({
      provider: 'daytona',
      owner: input.owner,
      adapter: input.adapterName ?? null,
      image: image ?? null,
      snapshot: input.snapshot ?? snapshot ?? null,
      target: target ?? null,
      resources: [cpu, memory, disk, gpu].map((value) => value ?? null),
    }),
  )
}
