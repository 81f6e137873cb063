import { InvalidInputError } from '@holdfast/core'
import { parseDuration } from './parse-duration.ts'
import type { Duration } from './parse-duration.ts'

/** How long a sandbox lives and what is kept of it. */
export interface SandboxLifecycleOptions {
  /** One sandbox for a thread, or a fresh one for each run. Default `thread`. */
  reuse?: 'thread' | 'none'
  /**
   * When to take the vendor's own disk image, where the provider can: after the setup of a new sandbox, or after each run
   * that completed. The newest is used; earlier ones stay with the vendor. Default `none`.
   */
  snapshot?: 'after-setup' | 'after-run' | 'none'
  /** Keeps the sandbox running after a run, where the provider would otherwise stop it. Default true. */
  keepAlive?: boolean
  /** Destroys the sandbox when a run has ended, well or not. Default false. */
  destroyOnComplete?: boolean
  /** An older vendor snapshot is not restored; a fresh sandbox is made. No limit when left out. */
  snapshotMaxAge?: Duration
}

/** The options with their defaults, times in milliseconds. */
export interface SandboxLifecycle {
  readonly reuse: 'thread' | 'none'
  readonly snapshot: 'after-setup' | 'after-run' | 'none'
  readonly keepAlive: boolean
  readonly destroyOnComplete: boolean
  readonly snapshotMaxAgeMs?: number
}

const REUSE: readonly unknown[] = ['thread', 'none']
const SNAPSHOT: readonly unknown[] = ['after-setup', 'after-run', 'none']

/** Checks the options. `INVALID_CONFIGURATION` for an unknown word or unit. */
export function parseLifecycle(options: SandboxLifecycleOptions = {}): SandboxLifecycle {
  const { reuse = 'thread', snapshot = 'none', keepAlive = true, destroyOnComplete = false, snapshotMaxAge } = options
  assertWord('lifecycle.reuse', reuse, REUSE)
  assertWord('lifecycle.snapshot', snapshot, SNAPSHOT)
  return {
    reuse,
    snapshot,
    keepAlive,
    destroyOnComplete,
    ...(snapshotMaxAge !== undefined && {
      snapshotMaxAgeMs: parseDuration('lifecycle.snapshotMaxAge', snapshotMaxAge),
    }),
  }
}

function assertWord(name: string, value: unknown, words: readonly unknown[]): void {
  if (words.includes(value)) return
  const message = `${name} must be one of ${words.join(', ')}; got ${JSON.stringify(value)}.`
  throw new InvalidInputError('INVALID_CONFIGURATION', message, { details: { option: name } })
}
