import type { HoldfastStores } from '@holdfast/core'
import type { RunStore } from '@tanstack/ai'
import type { LockStore } from '@tanstack/ai/locks'
import type { SqlStores } from '../../src/index.ts'

/** Compiles only while the stores fit the contracts of this project and of TanStack AI. */
type Fits<Wanted, Given extends Wanted> = Given

export type StoresFit = Fits<HoldfastStores, SqlStores>
export type RunsFit = Fits<RunStore, SqlStores['runs']>
export type LocksFit = Fits<LockStore, SqlStores['locks']>
