import type { ConformanceSuite, ConformanceTarget } from './conformance-suite.ts'
import { runCase } from './run-suite.ts'
import type { RunSuiteOptions } from './run-suite.ts'

/** What a suite needs of a test runner. Vitest's, Jest's and `node:test`'s functions fit behind it. */
export interface SuiteRunner {
  describe: (title: string, body: () => void) => void
  /** `skip(reason)` must end the test as skipped, with the reason in its report. */
  it: (title: string, body: (context: { skip: (reason: string) => void }) => Promise<void>) => void
}

/** Makes one test of each case. A case that the target cannot be asked is reported as skipped, with the reason. */
export function describeSuite<Subject>(
  suite: ConformanceSuite<Subject>,
  target: ConformanceTarget<Subject>,
  runner: SuiteRunner,
  options: RunSuiteOptions = {},
): void {
  runner.describe(`${suite.name}: ${target.name}`, () => {
    for (const testCase of suite.cases) {
      runner.it(`${testCase.id}: ${testCase.title}`, async ({ skip }) => {
        const outcome = await runCase(testCase, target, options)
        if (outcome.status === 'failed') throw outcome.error
        if (outcome.status === 'skipped') skip(outcome.reason)
      })
    }
  })
}

/** Answers needs: a reason for those that are named, true for all others. */
export function lacksOnly(reasons: Readonly<Record<string, string>>): ConformanceTarget<unknown>['has'] {
  return (need) => (Object.hasOwn(reasons, need) ? (reasons[need] ?? '') : true)
}
