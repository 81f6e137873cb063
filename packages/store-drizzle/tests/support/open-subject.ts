import type { HoldfastStores } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import type { StoreSubject, SubjectLease } from '@holdfast/testing'
import { advanceBoth } from './advance-both.ts'
import { MAX_BLOB_BYTES } from './blob-limit.ts'

/** Stores on one database as a subject. `create` opens further ones; `moveDatabase` moves the database's time. */
export function openSubject(
  create: (clock: FakeClock) => HoldfastStores,
  moveDatabase: (ms: number) => Promise<unknown>,
): SubjectLease<StoreSubject> {
  const clock = new FakeClock()
  const opened: HoldfastStores[] = []
  const connect = (): HoldfastStores => {
    const stores = create(clock)
    opened.push(stores)
    return stores
  }
  let stores = connect()
  const subject: StoreSubject = {
    maxBlobBytes: MAX_BLOB_BYTES,
    get stores() {
      return stores
    },
    advance: (ms) => advanceBoth(clock, moveDatabase, ms),
    connect: () => Promise.resolve(connect()),
    reopen: async () => {
      await stores.close()
      stores = connect()
      return stores
    },
  }
  const dispose = async (): Promise<void> => {
    await Promise.all(opened.map((each) => each.close()))
  }
  return { subject, dispose }
}
