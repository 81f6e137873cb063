import { describe, test } from 'vitest'
import { expectDetected } from '../../src/conformance/expect-detected.ts'
import { memoryTarget } from './memory-target.ts'
import { CONTENT_MUTANTS } from './mutants/content-mutants.ts'
import { EVENT_MUTANTS } from './mutants/event-mutants.ts'
import { RUN_MUTANTS } from './mutants/run-mutants.ts'
import { THREAD_MUTANTS } from './mutants/thread-mutants.ts'

const MUTANTS = [...RUN_MUTANTS, ...EVENT_MUTANTS, ...THREAD_MUTANTS, ...CONTENT_MUTANTS]

const CASE_TIMEOUT_MS = 20_000
const HANGING_CASE_TIMEOUT_MS = 1_000

describe('store suites fail on broken stores', () => {
  for (const { name, suite, change, detectedBy, hangs } of MUTANTS) {
    test(`${suite.name}: ${name}`, { timeout: 60_000 }, () =>
      expectDetected(suite, memoryTarget(name, change), detectedBy, {
        caseTimeoutMs: hangs ? HANGING_CASE_TIMEOUT_MS : CASE_TIMEOUT_MS,
      }),
    )
  }
})
