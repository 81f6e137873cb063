import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { FakeClock } from '../../src/clock/fake-clock.ts'
import type { ConformanceTarget } from '../../src/conformance/conformance-suite.ts'
import { lacksOnly } from '../../src/conformance/describe-suite.ts'
import type { StoreSubject } from '../../src/conformance/store-subject.ts'

const MAX_BLOB_BYTES = 16 * 1024 * 1024

/** Core's in-memory stores on a clock that a case moves. `change` makes a broken variant of them. */
export function memoryTarget(
  name = 'createMemoryStores',
  change: (stores: HoldfastStores) => HoldfastStores = (stores) => stores,
): ConformanceTarget<StoreSubject> {
  return {
    name,
    has: lacksOnly({
      concurrent: 'memory stores belong to one process',
      reopen: 'memory stores keep nothing after close',
    }),
    open() {
      const clock = new FakeClock()
      const original = createMemoryStores({ clock, maxBlobBytes: MAX_BLOB_BYTES })
      const subject: StoreSubject = {
        stores: change(original),
        advance: (ms) => clock.advance(ms),
        maxBlobBytes: MAX_BLOB_BYTES,
      }
      return Promise.resolve({ subject, dispose: () => original.close() })
    },
  }
}
