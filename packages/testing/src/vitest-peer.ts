import { UnsupportedError } from '@holdfast/core'
import type * as Vitest from 'vitest'

async function importVitest(): Promise<typeof Vitest> {
  try {
    return await import('vitest')
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new UnsupportedError(
      'PEER_MISSING',
      '@holdfast/testing/vitest needs the package vitest. Install it: npm install --save-dev vitest',
      { details: { package: 'vitest' }, cause: error },
    )
  }
}

/** vitest, which only this entry of the package needs. Importing it without vitest fails with `PEER_MISSING`. */
export const { describe, test, inject } = await importVitest()
