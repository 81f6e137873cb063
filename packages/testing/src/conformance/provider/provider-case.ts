import type { SandboxHandle } from '@holdfast/core'
import type { ConformanceCase } from '../conformance-suite.ts'
import type { ProviderSubject } from '../provider-subject.ts'

export type ProviderCase = ConformanceCase<ProviderSubject>

/** A case in one expression: id, sentence of the contract, check, what it needs. */
export function providerCase(
  id: string,
  title: string,
  run: ProviderCase['run'],
  needs: readonly string[] = [],
): ProviderCase {
  return { id, title, needs, run }
}

/** A case that needs nothing but one fresh sandbox. */
export function sandboxCase(
  id: string,
  title: string,
  run: (sandbox: SandboxHandle, subject: ProviderSubject) => Promise<void>,
  needs: readonly string[] = [],
): ProviderCase {
  return { id, title, needs, run: async (subject) => run(await subject.create(), subject) }
}
