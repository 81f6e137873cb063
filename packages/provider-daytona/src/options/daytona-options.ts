import type { Clock } from '@holdfast/core'
import type { SpanTracer } from '../account/operation-span.ts'

/** What becomes of a lease's sandbox when the lease is released. */
export type AfterRelease = 'keep' | 'stop' | 'archive' | 'destroy'

/** CPU cores, GiB of memory and disk, and GPUs of a sandbox. */
export interface DaytonaResources {
  /** Cores. */
  cpu?: number | undefined
  /** GiB. */
  memory?: number | undefined
  /** GiB. */
  disk?: number | undefined
  gpu?: number | undefined
}

/**
 * Options of `daytonaProvider` and `createDaytonaLeases`. All are optional but the key, which may come from
 * `DAYTONA_API_KEY`. Strings are trimmed and an empty one counts as left out; numbers may be given as strings.
 */
export interface DaytonaOptions {
  apiKey?: string | undefined
  /** Base of the service's API, `/api` included. Default `DAYTONA_API_URL`, then the public service. */
  apiUrl?: string | undefined
  /** Region. Default `DAYTONA_TARGET`, then the organisation's own. */
  target?: string | undefined
  /** A container image. Not together with `snapshot`. */
  image?: string | undefined
  /** A snapshot of the account. Its resources are baked in, so `resources` is ignored with it. */
  snapshot?: string | undefined
  /** Needs `image`. */
  resources?: DaytonaResources | undefined
  language?: 'python' | 'typescript' | 'javascript' | undefined
  /** Longest time for creating or starting a sandbox, 1 … 86,400,000. Default 300,000. */
  timeoutMs?: number | string | undefined
  /** Longest time for any other request. Default 30,000; 0 or less turns the bound off. */
  livenessTimeoutMs?: number | string | undefined
  /** Default 15; 0 never stops an idle sandbox. */
  autoStopMinutes?: number | string | undefined
  /** Default 60; 0 is the service's longest. Stopped sandboxes count against the quota, archived ones do not. */
  autoArchiveMinutes?: number | string | undefined
  /** Default 10,080 (7 days); 0 deletes on stop, -1 never. */
  autoDeleteMinutes?: number | string | undefined
  /** Epoch milliseconds after which the service destroys the sandbox. Rounded down to whole minutes. */
  expiresAt?: number | string | undefined
  /** Default `stop`. Used by leases only. */
  afterRelease?: AfterRelease | undefined
  /** The workspace's real directory; relative ones start at the sandbox's work directory. Default `workspace`. */
  workdir?: string | undefined
  /** Added to every sandbox. */
  labels?: Readonly<Record<string, string>> | undefined
  /** For every command of every sandbox. */
  env?: Readonly<Record<string, string>> | undefined
  /** A tracer of `@opentelemetry/api`. Default: the app's own where that package is installed. */
  tracer?: SpanTracer | undefined
  clock?: Clock | undefined
}

/** Options after validation: trimmed, with numbers as numbers and every default filled in. */
export interface NormalizedDaytonaOptions {
  readonly apiKey: string
  readonly apiUrl: string
  readonly target: string | undefined
  readonly image: string | undefined
  readonly snapshot: string | undefined
  readonly resources: DaytonaResources | undefined
  readonly language: 'python' | 'typescript' | 'javascript'
  readonly timeoutMs: number
  readonly livenessTimeoutMs: number
  readonly autoStopMinutes: number
  readonly autoArchiveMinutes: number
  readonly autoDeleteMinutes: number
  readonly expiresAt: number | undefined
  readonly afterRelease: AfterRelease
  readonly workdir: string
  readonly labels: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly tracer: SpanTracer | undefined
  readonly clock: Clock
}
