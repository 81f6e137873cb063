import { describe, test } from 'vitest'
import { expectDetected } from '../../src/conformance/expect-detected.ts'
import { providerSuite } from '../../src/index.ts'
import { EXEC_MUTANTS } from './mutants/exec-mutants.ts'
import { FS_MUTANTS } from './mutants/fs-mutants.ts'
import { casesAmong, mutantTarget } from './mutants/provider-mutant.ts'
import type { ProviderMutant } from './mutants/provider-mutant.ts'
import { PROVIDER_MUTANTS } from './mutants/provider-mutants.ts'
import { SPAWN_MUTANTS } from './mutants/spawn-mutants.ts'

const MUTANTS = [...EXEC_MUTANTS, ...SPAWN_MUTANTS, ...FS_MUTANTS, ...PROVIDER_MUTANTS]

/** A hanging mutant costs this much for each case that it fails. */
const CASE_TIMEOUT_MS = 4_000

function detects(mutant: ProviderMutant): Promise<void> {
  return expectDetected(providerSuite, mutantTarget(mutant), mutant.detectedBy, {
    only: casesAmong(mutant),
    caseTimeoutMs: CASE_TIMEOUT_MS,
  })
}

describe('the provider suite fails on broken providers', () => {
  test.each(MUTANTS.filter(({ hangs }) => hangs !== true))('$name', { timeout: 60_000 }, detects)
})

describe.concurrent('the provider suite fails on providers that hang', () => {
  test.each(MUTANTS.filter(({ hangs }) => hangs === true))('$name', { timeout: 60_000 }, detects)
})
