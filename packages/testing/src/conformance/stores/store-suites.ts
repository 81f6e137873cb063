import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { artifactStoreSuite } from './artifact-store-suite.ts'
import { blobStoreSuite } from './blob-store-suite.ts'
import { checkpointStoreSuite } from './checkpoint-store-suite.ts'
import { driverStoreSuite } from './driver-store-suite.ts'
import { eventLogSuite } from './event-log-suite.ts'
import { instanceStoreSuite } from './instance-store-suite.ts'
import { interruptStoreSuite } from './interrupt-store-suite.ts'
import { lockStoreSuite } from './lock-store-suite.ts'
import { messageStoreSuite } from './message-store-suite.ts'
import { metadataStoreSuite } from './metadata-store-suite.ts'
import { runStoreSuite } from './run-store-suite.ts'
import { storeLifeSuite } from './store-life-suite.ts'
import { threadStoreSuite } from './thread-store-suite.ts'

/** Every suite that a complete backend passes. */
export const STORE_SUITES: readonly ConformanceSuite<StoreSubject>[] = [
  storeLifeSuite,
  runStoreSuite,
  driverStoreSuite,
  eventLogSuite,
  lockStoreSuite,
  instanceStoreSuite,
  threadStoreSuite,
  messageStoreSuite,
  interruptStoreSuite,
  metadataStoreSuite,
  blobStoreSuite,
  artifactStoreSuite,
  checkpointStoreSuite,
]
