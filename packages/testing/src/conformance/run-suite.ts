import type { CaseOutcome, ConformanceCase, ConformanceSuite, ConformanceTarget } from './conformance-suite.ts'

/** Which cases run, and how long each may take. */
export interface RunSuiteOptions {
  /** A case that has not ended by then has failed. Default 30,000. */
  caseTimeoutMs?: number
  /** Runs these cases only. */
  only?: readonly string[]
}

const CASE_TIMEOUT_MS = 30_000

/** Runs the cases one after the other, each on a fresh subject. Never rejects for what a case does. */
export async function runSuite<Subject>(
  suite: ConformanceSuite<Subject>,
  target: ConformanceTarget<Subject>,
  options: RunSuiteOptions = {},
): Promise<CaseOutcome[]> {
  const cases = suite.cases.filter(({ id }) => options.only?.includes(id) ?? true)
  const outcomes: CaseOutcome[] = []
  for (const testCase of cases) outcomes.push(await runCase(testCase, target, options))
  return outcomes
}

/**
 * Runs one case on a fresh subject. A subject that cannot be opened or let go of fails the case; when the case had failed
 * already, an `AggregateError` tells of both, its own failure first and as the cause.
 */
export async function runCase<Subject>(
  testCase: ConformanceCase<Subject>,
  target: ConformanceTarget<Subject>,
  { caseTimeoutMs = CASE_TIMEOUT_MS }: RunSuiteOptions = {},
): Promise<CaseOutcome> {
  const { id } = testCase
  try {
    const lacking = lackingNeed(testCase, target)
    if (lacking !== undefined) return { id, status: 'skipped', reason: lacking }
    const { subject, dispose } = await target.open()
    // A case may throw before it has a promise to reject; its subject is let go of then too.
    const failures = [
      ...(await failureOf(() => withinTime(testCase.run(subject), id, caseTimeoutMs))),
      ...(await failureOf(() => withinTime(dispose(), `${id}, letting go of the subject`, caseTimeoutMs))),
    ]
    if (failures.length === 0) return { id, status: 'passed' }
    return { id, status: 'failed', error: joined(id, failures) }
  } catch (error) {
    return { id, status: 'failed', error }
  }
}

async function failureOf(work: () => Promise<void>): Promise<unknown[]> {
  try {
    await work()
    return []
  } catch (error) {
    return [error]
  }
}

function joined(id: string, [error, ...others]: readonly unknown[]): unknown {
  if (others.length === 0) return error
  const text = [error, ...others].map((failure) => (failure instanceof Error ? failure.message : String(failure)))
  const message = `${id} failed, and so did letting go of its subject: ${text.join('; ')}`
  return new AggregateError([error, ...others], message, { cause: error })
}

/** Why the target cannot be asked this; undefined when it has all that the case needs. */
function lackingNeed<Subject>(
  { needs = [] }: ConformanceCase<Subject>,
  target: ConformanceTarget<Subject>,
): string | undefined {
  for (const need of needs) {
    const answer = target.has(need)
    if (answer === true) continue
    if (answer.trim() === '') throw new Error(`${target.name} lacks "${need}" and does not say why.`)
    return `${need}: ${answer}`
  }
  return undefined
}

function withinTime(work: Promise<void>, what: string, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} did not end within ${limitMs} ms.`)), limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
