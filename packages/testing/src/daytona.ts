export { startDaytonaServer } from './daytona/daytona-server.ts'
export type { DaytonaServer, DaytonaServerOptions, HeldSandbox } from './daytona/daytona-server.ts'
export { DEFAULT_KNOBS } from './daytona/daytona-knobs.ts'
export type {
  DaytonaKnobInput,
  DaytonaKnobs,
  RandomFaultKind,
  RandomFaults,
  RateLimit,
  Throttler,
  TransitionalState,
} from './daytona/daytona-knobs.ts'
export type { PlannedFailure } from './daytona/control/sandbox-transitions.ts'
export type { SnapshotState } from './daytona/control/snapshot-registry.ts'
export type { WireFault, WireFaultEffect } from './daytona/faults/wire-fault.ts'
export type { Organization } from './daytona/http/organizations.ts'
export type { RecordedRequest, RequestFilter, RequestKind } from './daytona/http/request-log.ts'
