import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { driverStoreSuite } from './driver-store-suite.ts'
import { runStoreSuite } from './run-store-suite.ts'

/** Every suite that a complete backend passes. */
export const STORE_SUITES: readonly ConformanceSuite<StoreSubject>[] = [runStoreSuite, driverStoreSuite]
