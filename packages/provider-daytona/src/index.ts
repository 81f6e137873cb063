export { daytonaProvider } from './daytona-provider.ts'
export { validateDaytonaOptions } from './options/validate-options.ts'
export type { DaytonaOptionsCheck } from './options/validate-options.ts'
export type {
  AfterRelease,
  DaytonaOptions,
  DaytonaResources,
  NormalizedDaytonaOptions,
} from './options/daytona-options.ts'
export type { OperationSpan, SpanTracer } from './account/operation-span.ts'
export { createDaytonaLeases } from './lease/daytona-leases.ts'
export type {
  AcquireInput,
  DaytonaLease,
  DaytonaLeases,
  LeaseOwner,
  LeaseResume,
  ResumeLeaseInput,
} from './lease/daytona-leases.ts'
export type { FileSync, SyncFile } from './archive/file-sync.ts'
export type { InteractiveSetup, InteractiveSetups, SetupStartInput } from './templates/interactive-setup.ts'
export type { ChannelEnd, DuplexChannel, DuplexChannelInput } from './terminal/duplex-channel.ts'
export type { IngressEndpoint } from './ports/daytona-ports.ts'
