import { describe, test } from './vitest-peer.ts'
import type { ConformanceSuite, ConformanceTarget } from './conformance/conformance-suite.ts'
import { describeSuite } from './conformance/describe-suite.ts'
import type { SuiteRunner } from './conformance/describe-suite.ts'
import type { RunSuiteOptions } from './conformance/run-suite.ts'
import type { StoreSubject } from './conformance/store-subject.ts'
import type { ProviderSubject } from './conformance/provider-subject.ts'
import { providerSuite } from './conformance/provider-suite.ts'
import { artifactStoreSuite } from './conformance/stores/artifact-store-suite.ts'
import { blobStoreSuite } from './conformance/stores/blob-store-suite.ts'
import { checkpointStoreSuite } from './conformance/stores/checkpoint-store-suite.ts'
import { driverStoreSuite } from './conformance/stores/driver-store-suite.ts'
import { eventLogSuite } from './conformance/stores/event-log-suite.ts'
import { instanceStoreSuite } from './conformance/stores/instance-store-suite.ts'
import { interruptStoreSuite } from './conformance/stores/interrupt-store-suite.ts'
import { lockStoreSuite } from './conformance/stores/lock-store-suite.ts'
import { messageStoreSuite } from './conformance/stores/message-store-suite.ts'
import { metadataStoreSuite } from './conformance/stores/metadata-store-suite.ts'
import { runStoreSuite } from './conformance/stores/run-store-suite.ts'
import { storeLifeSuite } from './conformance/stores/store-life-suite.ts'
import { threadStoreSuite } from './conformance/stores/thread-store-suite.ts'
import { STORE_SUITES } from './conformance/stores/store-suites.ts'

/** Tests of one suite for vitest, one per case. A skipped case reports its reason. */
export type DescribeSuite<Subject> = (target: ConformanceTarget<Subject>, options?: RunSuiteOptions) => void

/** Ends later than a case does by itself, so that the case's own message is what is reported. */
const TEST_TIMEOUT_MS = 90_000

const vitestRunner: SuiteRunner = {
  describe: (title, body) => describe(title, body),
  it: (title, body) => test(title, ({ skip }) => body({ skip: (reason) => skip(reason) }), TEST_TIMEOUT_MS),
}

function bind<Subject>(suite: ConformanceSuite<Subject>): DescribeSuite<Subject> {
  return (target, options) => describeSuite(suite, target, vitestRunner, options)
}

/** Tests what all stores promise together: `ping` and `close`. */
export const describeStoreLife: DescribeSuite<StoreSubject> = bind(storeLifeSuite)
/** Tests the contract of `RunStore`. */
export const describeRunStore: DescribeSuite<StoreSubject> = bind(runStoreSuite)
/** Tests the contract of `DriverStore`. */
export const describeDriverStore: DescribeSuite<StoreSubject> = bind(driverStoreSuite)
/** Tests the contract of `EventLogStore`. */
export const describeEventLog: DescribeSuite<StoreSubject> = bind(eventLogSuite)
/** Tests the contract of `FencedLockStore`. */
export const describeLockStore: DescribeSuite<StoreSubject> = bind(lockStoreSuite)
/** Tests the contract of `SandboxInstanceStore`. */
export const describeInstanceStore: DescribeSuite<StoreSubject> = bind(instanceStoreSuite)
/** Tests the contract of `ThreadStore`. */
export const describeThreadStore: DescribeSuite<StoreSubject> = bind(threadStoreSuite)
/** Tests the contract of `MessageStore`. */
export const describeMessageStore: DescribeSuite<StoreSubject> = bind(messageStoreSuite)
/** Tests the contract of `InterruptStore`. */
export const describeInterruptStore: DescribeSuite<StoreSubject> = bind(interruptStoreSuite)
/** Tests the contract of `MetadataStore`. */
export const describeMetadataStore: DescribeSuite<StoreSubject> = bind(metadataStoreSuite)
/** Tests the contract of `BlobStore`. */
export const describeBlobStore: DescribeSuite<StoreSubject> = bind(blobStoreSuite)
/** Tests the contract of `ArtifactStore`. */
export const describeArtifactStore: DescribeSuite<StoreSubject> = bind(artifactStoreSuite)
/** Tests the contract of `SandboxCheckpointStore`. */
export const describeCheckpointStore: DescribeSuite<StoreSubject> = bind(checkpointStoreSuite)

/** Tests the contract of `SandboxProvider` and everything below it. */
export const describeProvider: DescribeSuite<ProviderSubject> = bind(providerSuite)

/** Every store suite, for a backend that has all stores. */
export function describeAllStores(target: ConformanceTarget<StoreSubject>, options?: RunSuiteOptions): void {
  for (const suite of STORE_SUITES) describeSuite(suite, target, vitestRunner, options)
}

export { postgresGlobalSetup, sharedPostgres } from './postgres/shared-postgres.ts'
export type { SharedPostgresOptions } from './postgres/shared-postgres.ts'
