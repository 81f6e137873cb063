/** One sentence of a contract, as a test that needs no test runner. It fails by rejecting. */
export interface ConformanceCase<Subject> {
  /** Stable and unique in its suite, `fs.write.keeps-mode`. */
  readonly id: string
  /** The sentence of the contract that it checks. */
  readonly title: string
  /** What the subject must have: capabilities, or traits such as `concurrent` and `reopen`. */
  readonly needs?: readonly string[]
  readonly run: (subject: Subject) => Promise<void>
}

/** The sentences of one contract. */
export interface ConformanceSuite<Subject> {
  readonly name: string
  readonly cases: readonly ConformanceCase<Subject>[]
}

/** A fresh subject for one case, and how to let go of it. */
export interface SubjectLease<Subject> {
  readonly subject: Subject
  readonly dispose: () => Promise<void>
}

/**
 * What a suite is run against. `has` answers for each need: true, or the reason for a person why not. A reason that is
 * empty fails the case.
 */
export interface ConformanceTarget<Subject> {
  readonly name: string
  readonly open: () => Promise<SubjectLease<Subject>>
  readonly has: (need: string) => true | string
}

/** How one case ended. */
export type CaseOutcome =
  | { id: string; status: 'passed' }
  | { id: string; status: 'failed'; error: unknown }
  | { id: string; status: 'skipped'; reason: string }
