import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { FakeClock } from '../../src/clock/fake-clock.ts'
import type { ConformanceTarget } from '../../src/conformance/conformance-suite.ts'
import { lacksOnly } from '../../src/conformance/describe-suite.ts'
import type { StoreSubject } from '../../src/conformance/store-subject.ts'

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
      const original = createMemoryStores({ clock })
      const subject: StoreSubject = { stores: change(original), advance: (ms) => clock.advance(ms) }
      return Promise.resolve({ subject, dispose: () => original.close() })
    },
  }
}
