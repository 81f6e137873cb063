export { FakeClock } from './clock/fake-clock.ts'
export { FaultPlan } from './faults/fault-plan.ts'
export type { FaultBarrier } from './faults/fault-plan.ts'
export type { FaultAction, FaultOperation, FaultRule } from './faults/fault-rule.ts'
export { withFaults } from './faults/with-faults.ts'
export { memoryProvider } from './providers/memory/memory-provider.ts'
export type { MemoryProviderOptions } from './providers/memory/memory-provider.ts'
export { processProvider } from './providers/process/process-provider.ts'
export type { ProcessProviderOptions } from './providers/process/process-provider.ts'

export { canStartPostgres } from './postgres/postgres-binaries.ts'
export type { PostgresVersion } from './postgres/postgres-binaries.ts'
export { postgresDatabases } from './postgres/postgres-databases.ts'
export type { CloneTemplateInput, PostgresDatabase, PostgresDatabases } from './postgres/postgres-databases.ts'
export { startPostgres } from './postgres/start-postgres.ts'
export type { StartPostgresOptions, TestPostgres } from './postgres/start-postgres.ts'

export type {
  CaseOutcome,
  ConformanceCase,
  ConformanceSuite,
  ConformanceTarget,
  SubjectLease,
} from './conformance/conformance-suite.ts'
export { describeSuite, lacksOnly } from './conformance/describe-suite.ts'
export type { SuiteRunner } from './conformance/describe-suite.ts'
export { runCase, runSuite } from './conformance/run-suite.ts'
export type { RunSuiteOptions } from './conformance/run-suite.ts'
export type { StoreSubject } from './conformance/store-subject.ts'
export { driverStoreSuite } from './conformance/stores/driver-store-suite.ts'
export { eventLogSuite } from './conformance/stores/event-log-suite.ts'
export { instanceStoreSuite } from './conformance/stores/instance-store-suite.ts'
export { interruptStoreSuite } from './conformance/stores/interrupt-store-suite.ts'
export { lockStoreSuite } from './conformance/stores/lock-store-suite.ts'
export { messageStoreSuite } from './conformance/stores/message-store-suite.ts'
export { metadataStoreSuite } from './conformance/stores/metadata-store-suite.ts'
export { runStoreSuite } from './conformance/stores/run-store-suite.ts'
export { STORE_SUITES } from './conformance/stores/store-suites.ts'
