import type { HoldfastStores } from '@holdfast/core'
import type { ConformanceSuite } from '../../../src/conformance/conformance-suite.ts'
import type { StoreSubject } from '../../../src/conformance/store-subject.ts'

/** One way in which a store can be wrong, and the cases that must notice. */
export interface StoreMutant {
  readonly name: string
  readonly suite: ConformanceSuite<StoreSubject>
  readonly change: (stores: HoldfastStores) => HoldfastStores
  readonly detectedBy: readonly string[]
  /** Cases fail by not ending, so that they are given less time. */
  readonly hangs?: boolean
}

/** `target` with some members replaced. Everything else runs on the original, private fields included. */
export function override<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(original, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name) as unknown
      const value = Reflect.get(original, name, original) as unknown
      return typeof value === 'function' ? (value.bind(original) as unknown) : value
    },
  })
}

/** Replaces members of one of the stores. */
export function withBroken<K extends keyof HoldfastStores>(
  key: K,
  change: (store: HoldfastStores[K], stores: HoldfastStores) => Partial<HoldfastStores[K]>,
): StoreMutant['change'] {
  return (stores) => {
    const broken = override(stores[key] as object, change(stores[key], stores) as object)
    return { ...stores, [key]: broken }
  }
}
