/** States in which something is going on, each with a duration of its own. */
export type TransitionalState =
  | 'creating'
  | 'restoring'
  | 'starting'
  | 'stopping'
  | 'archiving'
  | 'destroying'
  | 'snapshotting'
  | 'forking'
  | 'resizing'
  | 'pausing'
  | 'resuming'
  | 'pulling_snapshot'
  | 'pending_build'
  | 'building_snapshot'

/** The service's groups of requests that are limited together. */
export type Throttler = 'authenticated' | 'sandbox-create' | 'sandbox-lifecycle' | 'failed-auth'

/** Requests that a throttler lets through in its window. */
export interface RateLimit {
  limit: number
  windowMs: number
}

/** A kind of fault that may come at random. */
export type RandomFaultKind =
  | 'lost-reply'
  | 'drop'
  | 'delay'
  | 'server-error'
  | 'html'
  | 'rate-limit'
  | 'conflict'
  | 'socket-cut'
  | 'download-cut'
  | 'upload-cut'
  | 'hang'
  | 'kill-sandbox'

/** Faults at random, the same for the same seed. */
export interface RandomFaults {
  /** Share of requests that go wrong, 0 … 1. */
  rate: number
  /** Default: all but `hang` and `kill-sandbox`. */
  kinds?: readonly RandomFaultKind[]
  /** Routes that are left alone, as the request log spells them. */
  except?: readonly string[]
}

/** How faithful, how slow and how hostile the server is. Every knob can be turned while it runs. */
export interface DaytonaKnobs {
  /** Which daemon to be. `0.190` has bare 404s, no `source`, no `create-connect` and no exit control message [D190]. */
  daemon: '0.190' | '0.218'
  /** Real time that each transition takes. `Infinity` never ends by itself. */
  transitionMs: Record<TransitionalState, number>
  /** How long a create request is held open while the sandbox starts [A190]. */
  createHoldMs: number
  /** Added before each answer. */
  latencyMs: number
  /** Silence after which a log stream looks whether its command is over: 50 empty reads of 20 ms [D190]. */
  logIdleMs: number
  /** Most bytes of a log frame. `random` cuts anywhere from 1 to 1024, by the seed. */
  logFrameBytes: number | 'random'
  /** What a terminal sends at its end: the control message and the close frame, the close frame alone, or neither. */
  ptyExit: 'control' | 'close' | 'cut'
  /** Output chunks that a terminal client may lag behind before it is dropped with 1008. */
  ptyQueueChunks: number
  /** How long `deleteSession` waits between SIGTERM and SIGKILL [D190]. */
  sessionGraceMs: number
  /** The Socket.IO channel: served, answered 404, or accepted and never answered. */
  events: 'serve' | 'refuse' | 'silent'
  rateLimits: Partial<Record<Throttler, RateLimit>>
  /** How long after the sandbox looks ready again the row of its snapshot appears [A190]. */
  snapshotRowDelayMs: number
  /** Makes every snapshot of a sandbox fail without a word, as the runners do [A190]. */
  snapshotsFailSilently: boolean
  /** How long an accepted preview token stays good after it was replaced [P190]. */
  previewTokenCacheMs: number
  /** `path` works without DNS; `subdomain` is the service's form and needs names below `localhost` to resolve. */
  previewStyle: 'path' | 'subdomain'
  /** Least time between two notes of activity through the proxy [P190], and through `last-activity`. */
  activityThrottleMs: { proxy: number; refresh: number }
  /** How often an open connection counts as activity [P190]. */
  connectionActivityMs: number
  /** How often idle sandboxes are looked for [A190]. */
  idleCheckMs: number
  sandboxClass: 'container' | 'linux-vm'
  /** Sandboxes that count (all but archived ones) before a create is refused. */
  maxSandboxes: number
  /** Leaves `toolboxProxyUrl` out of every DTO, so that the SDK must ask for it. */
  omitToolboxProxyUrl: boolean
  /** How far lists lag behind creates. */
  listLagMs: number
  randomFaults: RandomFaults | null
}

/** The service as it behaves when nothing is turned. */
export const DEFAULT_KNOBS: DaytonaKnobs = {
  daemon: '0.218',
  transitionMs: {
    creating: 20,
    restoring: 60,
    starting: 20,
    stopping: 20,
    archiving: 40,
    destroying: 20,
    snapshotting: 30,
    forking: 30,
    resizing: 20,
    pausing: 20,
    resuming: 20,
    pulling_snapshot: 0,
    pending_build: 20,
    building_snapshot: 40,
  },
  createHoldMs: 30_000,
  latencyMs: 0,
  logIdleMs: 1_000,
  logFrameBytes: 1_024,
  ptyExit: 'control',
  ptyQueueChunks: 256,
  sessionGraceMs: 5_000,
  events: 'serve',
  rateLimits: {},
  snapshotRowDelayMs: 50,
  snapshotsFailSilently: false,
  previewTokenCacheMs: 120_000,
  previewStyle: 'path',
  activityThrottleMs: { proxy: 45_000, refresh: 5_000 },
  connectionActivityMs: 50_000,
  idleCheckMs: 10_000,
  sandboxClass: 'container',
  maxSandboxes: Number.POSITIVE_INFINITY,
  omitToolboxProxyUrl: false,
  listLagMs: 0,
  randomFaults: null,
}

/** What `configure` takes: any knob, and of `transitionMs` only the states that change. */
export type DaytonaKnobInput = {
  [Name in keyof DaytonaKnobs]?: Name extends 'transitionMs'
    ? Partial<DaytonaKnobs['transitionMs']>
    : DaytonaKnobs[Name]
}

export function applyKnobs(knobs: DaytonaKnobs, input: DaytonaKnobInput): void {
  const { transitionMs, ...rest } = input
  Object.assign(knobs, rest)
  if (transitionMs) knobs.transitionMs = { ...knobs.transitionMs, ...transitionMs }
}
