import { isHoldfastError } from '@holdfast/core'
import { shellQuote } from '@holdfast/core/provider-kit'
import { PRIVATE_DIR } from '../definition/workspace-marker.ts'
import type { CheckpointWorkspace } from './workspace/checkpoint-workspace.ts'

const FILE = `${PRIVATE_DIR}/checkpoint.json`

/**
 * Written into a sandbox, to say which checkpoint its files come from. Before a save it names the checkpoint that is about
 * to be and the one before, so that it is right whether or not the save succeeds. While a restore runs it names none.
 */
export interface Sentinel {
  readonly checkpoint: string | null
  readonly parent: string | null
}

export const RESTORING: Sentinel = { checkpoint: null, parent: null }

/** A command that writes it, to be put before another one. */
export function sentinelCommand(sentinel: Sentinel): string {
  return `mkdir -p ${PRIVATE_DIR} && printf '%s\\n' ${shellQuote(JSON.stringify(sentinel))} > ${FILE}`
}

export async function writeSentinel(workspace: CheckpointWorkspace, sentinel: Sentinel): Promise<void> {
  await workspace.handle.fs.write(workspace.absolute(FILE), `${JSON.stringify(sentinel)}\n`)
}

/** Whether the sandbox's files come from this checkpoint. Without a sentinel, or with a garbled one, they do not. */
export async function descendsFrom(workspace: CheckpointWorkspace, checkpointId: string): Promise<boolean> {
  try {
    const sentinel: unknown = JSON.parse(await workspace.handle.fs.read(workspace.absolute(FILE)))
    if (typeof sentinel !== 'object' || sentinel === null) return false
    return Reflect.get(sentinel, 'checkpoint') === checkpointId || Reflect.get(sentinel, 'parent') === checkpointId
  } catch (error) {
    if (error instanceof SyntaxError || isHoldfastError(error, 'FILE_NOT_FOUND')) return false
    if (isHoldfastError(error, 'FILE_CONFLICT')) return false
    throw error
  }
}
