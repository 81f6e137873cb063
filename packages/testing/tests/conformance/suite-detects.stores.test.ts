import { describe, test } from 'vitest'
import { expectDetected } from '../../src/conformance/expect-detected.ts'
import { memoryTarget } from './memory-target.ts'
import { ARTIFACT_MUTANTS } from './mutants/artifact-mutants.ts'
import { BLOB_MUTANTS } from './mutants/blob-mutants.ts'
import { CHECKPOINT_MUTANTS } from './mutants/checkpoint-mutants.ts'
import { DRIVER_MUTANTS } from './mutants/driver-mutants.ts'
import { EVENT_MUTANTS } from './mutants/event-mutants.ts'
import { INSTANCE_MUTANTS } from './mutants/instance-mutants.ts'
import { LOCK_MUTANTS } from './mutants/lock-mutants.ts'
import { MESSAGE_MUTANTS } from './mutants/message-mutants.ts'
import { RECORD_MUTANTS } from './mutants/record-mutants.ts'
import { RUN_MUTANTS } from './mutants/run-mutants.ts'
import type { StoreMutant } from './mutants/store-mutant.ts'
import { THREAD_MUTANTS } from './mutants/thread-mutants.ts'

const MUTANTS = [
  ...RUN_MUTANTS,
  ...DRIVER_MUTANTS,
  ...EVENT_MUTANTS,
  ...LOCK_MUTANTS,
  ...INSTANCE_MUTANTS,
  ...THREAD_MUTANTS,
  ...MESSAGE_MUTANTS,
  ...RECORD_MUTANTS,
  ...BLOB_MUTANTS,
  ...ARTIFACT_MUTANTS,
  ...CHECKPOINT_MUTANTS,
]

/** Cases about size, which only the mutants that they are named for run. */
const LARGE_CASES = [
  'log.append.10-mb',
  'message.large',
  'blob.put.large',
  'blob.put.too-large',
  'blob.put.failing-stream',
  'blob.put.half-done-is-unseen',
  'blob.get.ranges',
  'checkpoint.append.many-files',
]

const CASE_TIMEOUT_MS = 20_000
const HANGING_CASE_TIMEOUT_MS = 1_000

function casesFor({ suite, detectedBy }: StoreMutant): string[] {
  return suite.cases.map(({ id }) => id).filter((id) => !LARGE_CASES.includes(id) || detectedBy.includes(id))
}

describe('store suites fail on broken stores', () => {
  for (const mutant of MUTANTS) {
    const { name, suite, change, detectedBy, hangs } = mutant
    test(`${suite.name}: ${name}`, { timeout: 60_000 }, () =>
      expectDetected(suite, memoryTarget(name, change), detectedBy, {
        caseTimeoutMs: hangs ? HANGING_CASE_TIMEOUT_MS : CASE_TIMEOUT_MS,
        only: casesFor(mutant),
      }),
    )
  }
})
