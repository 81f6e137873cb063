import assert from 'node:assert/strict'
import type { ConformanceSuite, ConformanceTarget } from './conformance-suite.ts'
import { runSuite } from './run-suite.ts'
import type { RunSuiteOptions } from './run-suite.ts'

/**
 * Proves that a suite can fail: a target that is broken in one way must fail exactly the cases named for it. A case that
 * is missing shows that nothing guards the sentence; one too many shows that a case checks more than its own.
 */
export async function expectDetected<Subject>(
  suite: ConformanceSuite<Subject>,
  brokenTarget: ConformanceTarget<Subject>,
  caseIds: readonly string[],
  options: RunSuiteOptions = {},
): Promise<void> {
  assert.ok(caseIds.length > 0, `${brokenTarget.name}: a fault that no case is named for is not detected`)
  const outcomes = await runSuite(suite, brokenTarget, options)
  const failed = outcomes.flatMap(({ id, status }) => (status === 'failed' ? [id] : []))
  assert.deepEqual(failed.toSorted(), caseIds.toSorted(), `${brokenTarget.name}: the cases of ${suite.name} that fail`)
}
