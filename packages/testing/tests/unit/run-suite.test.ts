import { describe, expect, test } from 'vitest'
import type { ConformanceCase, ConformanceSuite, ConformanceTarget } from '../../src/conformance/conformance-suite.ts'
import { describeSuite, lacksOnly } from '../../src/conformance/describe-suite.ts'
import { expectDetected } from '../../src/conformance/expect-detected.ts'
import { runSuite } from '../../src/conformance/run-suite.ts'
import { STORE_SUITES } from '../../src/conformance/stores/store-suites.ts'

interface Counter {
  count: number
}

function caseOf(id: string, run: ConformanceCase<Counter>['run'], needs: string[] = []): ConformanceCase<Counter> {
  return { id, title: `the sentence of ${id}`, needs, run }
}

function suiteOf(...cases: ConformanceCase<Counter>[]): ConformanceSuite<Counter> {
  return { name: 'Counter', cases }
}

function targetOf(reasons: Record<string, string> = {}, dispose = () => Promise.resolve()): ConformanceTarget<Counter> {
  return { name: 'plain', has: lacksOnly(reasons), open: () => Promise.resolve({ subject: { count: 0 }, dispose }) }
}

const passes = caseOf('passes', () => Promise.resolve())
const fails = caseOf('fails', () => Promise.reject(new Error('as it should')))
const hangs = caseOf('hangs', () => new Promise(() => {}))

describe('runSuite', () => {
  test('a failing or hanging case is an outcome, and the cases after it run', async () => {
    const outcomes = await runSuite(suiteOf(fails, hangs, passes), targetOf(), { caseTimeoutMs: 50 })
    expect(outcomes.map(({ status }) => status)).toEqual(['failed', 'failed', 'passed'])
    expect(outcomes[1]).toMatchObject({ error: { message: 'hangs did not end within 50 ms.' } })
  })

  test('a case that throws at once is an outcome too', async () => {
    const throws = caseOf('throws', () => {
      throw new Error('at once')
    })
    expect(await runSuite(suiteOf(throws), targetOf())).toMatchObject([{ id: 'throws', status: 'failed' }])
  })

  test('a case whose need the target lacks is skipped with the reason', async () => {
    const outcomes = await runSuite(
      suiteOf(caseOf('needy', fails.run, ['wings'])),
      targetOf({ wings: 'it is a stone' }),
    )
    expect(outcomes).toEqual([{ id: 'needy', status: 'skipped', reason: 'wings: it is a stone' }])
  })

  test('a need that is lacking without a reason fails the case', async () => {
    const outcomes = await runSuite(suiteOf(caseOf('needy', passes.run, ['wings'])), targetOf({ wings: ' ' }))
    expect(outcomes).toMatchObject([{ id: 'needy', status: 'failed' }])
  })

  test('each case gets a fresh subject, which is let go of also when the case fails', async () => {
    let disposed = 0
    const target = targetOf({}, async () => void (disposed += 1))
    const counts: number[] = []
    const counting = caseOf('counting', async (subject) => void counts.push((subject.count += 1)))
    await runSuite(suiteOf(counting, fails, counting), target)
    expect(counts).toEqual([1, 1])
    expect(disposed).toBe(3)
  })

  test('a subject that cannot be opened or let go of fails the case', async () => {
    const broken = { ...targetOf(), open: () => Promise.reject(new Error('no subject')) }
    expect(await runSuite(suiteOf(passes), broken)).toMatchObject([{ status: 'failed' }])
    const stuck = targetOf({}, () => Promise.reject(new Error('stuck')))
    expect(await runSuite(suiteOf(passes), stuck)).toMatchObject([{ status: 'failed' }])
  })
})

describe('a case that fails on a subject that cannot be let go of', () => {
  const stuck = targetOf({}, () => Promise.reject(new Error('stuck')))

  test.each([
    ['rejects', fails, 'as it should'],
    ['hangs', hangs, 'hangs did not end within 50 ms.'],
    ['throws undefined', caseOf('nothing', () => Promise.reject()), 'undefined'],
  ])('tells of both when it %s', async (_, broken, message) => {
    const [outcome] = await runSuite(suiteOf(broken), stuck, { caseTimeoutMs: 50 })
    const error = outcome?.status === 'failed' ? (outcome.error as AggregateError) : undefined
    expect(error).toBeInstanceOf(AggregateError)
    expect(error?.errors.map((failure) => String((failure as Error | undefined)?.message))).toEqual([message, 'stuck'])
    expect(error?.message).toContain(message)
    expect(error?.message).toContain('stuck')
    expect(error?.cause).toBe(error?.errors[0])
  })

  test('passes on what one of them failed with as it is', async () => {
    const disposed = await runSuite(suiteOf(passes), stuck)
    expect(disposed).toMatchObject([{ status: 'failed', error: { message: 'stuck' } }])
    const run = await runSuite(suiteOf(fails), targetOf())
    expect(run).toMatchObject([{ status: 'failed', error: { message: 'as it should' } }])
    for (const outcome of [...disposed, ...run]) {
      expect(outcome.status === 'failed' && outcome.error).not.toBeInstanceOf(AggregateError)
    }
  })
})

describe('describeSuite', () => {
  test('makes one test per case for the given runner', async () => {
    const titles: string[] = []
    const results: string[] = []
    const tests: Promise<void>[] = []
    const skip = (reason: string): void => void results.push(`skipped: ${reason}`)
    const runner = {
      describe: (title: string, body: () => void) => {
        titles.push(title)
        body()
      },
      it: (title: string, body: (context: { skip: typeof skip }) => Promise<void>) => {
        titles.push(title)
        const failed = (error: unknown) => void results.push(`failed: ${(error as Error).message}`)
        tests.push(body({ skip }).catch(failed))
      },
    }
    describeSuite(suiteOf(passes, fails, caseOf('needy', passes.run, ['wings'])), targetOf({ wings: 'none' }), runner)
    await Promise.all(tests)
    expect(titles).toEqual([
      'Counter: plain',
      'passes: the sentence of passes',
      'fails: the sentence of fails',
      'needy: the sentence of needy',
    ])
    expect(results.toSorted()).toEqual(['failed: as it should', 'skipped: wings: none'])
  })
})

describe('expectDetected', () => {
  test('accepts exactly the cases that fail', async () => {
    await expectDetected(suiteOf(passes, fails), targetOf(), ['fails'])
  })

  test('refuses a fault that too few, too many or no cases notice', async () => {
    await expect(expectDetected(suiteOf(passes), targetOf(), ['passes'])).rejects.toThrow(/cases of Counter/)
    await expect(expectDetected(suiteOf(fails, caseOf('too', fails.run)), targetOf(), ['fails'])).rejects.toThrow()
    await expect(expectDetected(suiteOf(passes), targetOf(), [])).rejects.toThrow(/is not detected/)
  })
})

describe('store suites', () => {
  test('every case has an id of its own and a sentence', () => {
    const cases = STORE_SUITES.flatMap((suite) => suite.cases)
    const ids = cases.map(({ id }) => id)
    expect(ids.length).toBe(new Set(ids).size)
    for (const { id, title } of cases) {
      expect(id).toMatch(/^[a-z]+(\.[a-z0-9-]+)+$/)
      expect(title.length).toBeGreaterThan(15)
    }
  })
})
