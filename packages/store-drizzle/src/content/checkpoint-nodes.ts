import { NotFoundError } from '@holdfast/core'
import type { Database, StatementRunner } from '../database/database.ts'
import { number, text } from '../database/row.ts'
import { dropUnusedNodes, loadNodes } from '../statements/checkpoint-nodes.ts'
import { applyDifference, encodeDifference, isSameList } from './list-difference.ts'

/** A stored list and what it took to store it. */
export interface CheckpointNode {
  nodeId: number
  depth: number
  chainBytes: number
  items: readonly string[]
}

/** How a list is to be stored: as a node that is there already, or as a new one. */
export type NodePlan =
  | { kind: 'shared'; nodeId: number; items: readonly string[] }
  | { kind: 'new'; baseId: number | null; depth: number; chainBytes: number; body: string; items: readonly string[] }

/** Bounds the time to read a checkpoint. */
const MAX_DEPTH = 256
/** Characters of lists that are kept in memory, so that the next checkpoint of a thread need not read its parent. */
const CACHE_CHARACTERS = 32_000_000

/**
 * Lists of checkpoints as chains of differences. A chain is written whole again once its differences are as large as the
 * list itself: so reading costs at most twice the list, and storing at most twice what changed plus one list.
 */
export class CheckpointNodes {
  readonly #db: Database
  readonly #cache = new Map<number, CheckpointNode>()
  #cached = 0

  constructor(db: Database) {
    this.#db = db
  }

  async load(nodeId: number): Promise<CheckpointNode> {
    const known = this.#cache.get(nodeId)
    if (known !== undefined) {
      this.#remember(known)
      return known
    }
    const rows = await this.#db.rows(loadNodes, [nodeId])
    const last = rows.at(-1)
    if (last === undefined) throw nodeMissing()
    let items: string[] = []
    for (const row of rows) items = applyDifference(items, text(row, 'body'))
    const node = { nodeId, depth: number(last, 'depth'), chainBytes: number(last, 'chain_bytes'), items }
    this.#remember(node)
    return node
  }

  /** Notes a node that was stored by this process. */
  stored(nodeId: number, plan: NodePlan): void {
    if (plan.kind === 'new')
      this.#remember({ nodeId, depth: plan.depth, chainBytes: plan.chainBytes, items: plan.items })
  }

  #remember(node: CheckpointNode): void {
    if (this.#cache.delete(node.nodeId)) this.#cached -= charactersOf(node)
    this.#cache.set(node.nodeId, node)
    this.#cached += charactersOf(node)
    for (const oldest of this.#cache.values()) {
      if (this.#cached <= CACHE_CHARACTERS) return
      this.#cache.delete(oldest.nodeId)
      this.#cached -= charactersOf(oldest)
    }
  }
}

/** The cheapest way to store `items` beside `base`. */
export function planNode(base: CheckpointNode | undefined, items: readonly string[]): NodePlan {
  const whole = `[${items.join(',')}]`
  if (base === undefined) return { kind: 'new', baseId: null, depth: 1, chainBytes: 0, body: whole, items }
  const body = encodeDifference(base.items, items)
  if (isSameList(body, base.items)) return { kind: 'shared', nodeId: base.nodeId, items }
  const chainBytes = base.chainBytes + body.length
  if (chainBytes >= whole.length || base.depth >= MAX_DEPTH) {
    return { kind: 'new', baseId: null, depth: 1, chainBytes: 0, body: whole, items }
  }
  return { kind: 'new', baseId: base.nodeId, depth: base.depth + 1, chainBytes, body, items }
}

/** Items that a new node brings in, of which the base has none. */
export function addedItems(plan: NodePlan, base: CheckpointNode | undefined): readonly string[] {
  if (plan.kind === 'shared') return []
  if (plan.baseId === null || base === undefined) return plan.items
  const had = new Set(base.items)
  return plan.items.filter((item) => !had.has(item))
}

/** Removes nodes from the given ones down, as far as nothing else needs them. */
export async function dropNodes(tx: StatementRunner, nodeIds: readonly number[]): Promise<void> {
  let candidates = nodeIds
  while (candidates.length > 0) {
    const rows = await tx.rows(dropUnusedNodes, [JSON.stringify(candidates)])
    candidates = rows.map((row) => number(row, 'base_id'))
  }
}

function charactersOf({ items }: CheckpointNode): number {
  return items.reduce((sum, item) => sum + item.length, 0)
}

function nodeMissing(): NotFoundError {
  const message = 'The checkpoint was deleted while it was read.'
  return new NotFoundError('SANDBOX_SNAPSHOT_CHECKPOINT_NOT_FOUND', message)
}
