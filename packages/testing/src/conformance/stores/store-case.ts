import type { ConformanceCase } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'

export type StoreCase = ConformanceCase<StoreSubject>

/** A case in one expression: id, sentence of the contract, check, what it needs. */
export function storeCase(id: string, title: string, run: StoreCase['run'], needs: readonly string[] = []): StoreCase {
  return { id, title, needs, run }
}
