import { limitExceeded } from '../policy/checkpoint-limits.ts'
import type { CheckpointLimits } from '../policy/checkpoint-limits.ts'
import type { PathPolicy } from '../policy/path-policy.ts'
import { sentinelCommand, writeSentinel } from '../sentinel.ts'
import type { Sentinel } from '../sentinel.ts'
import type { CheckpointWorkspace } from './checkpoint-workspace.ts'
import { statScript, UNSUPPORTED, walkScript } from './listing-script.ts'
import { parseListing } from './parse-listing.ts'
import { walkWorkspace } from './walk-workspace.ts'
import type { WorkspaceListing } from './workspace-entry.ts'

/**
 * What is in the workspace, in one request where the sandbox has the tools; else path by path. What the policy excludes
 * is not looked into. Links are not followed. A sentinel is written before.
 */
export async function listWorkspace(
  workspace: CheckpointWorkspace,
  policy: PathPolicy,
  limits: CheckpointLimits,
  sentinel?: Sentinel,
): Promise<WorkspaceListing> {
  const listing = (await walkByScript(workspace, policy, sentinel)) ?? (await walkWorkspace(workspace, policy))
  if (listing.entries.size <= limits.maxEntries) return listing
  const path = [...listing.entries.keys()][limits.maxEntries] ?? '.'
  throw limitExceeded({ limit: 'maxEntries', max: limits.maxEntries, path, size: listing.entries.size })
}

/** The same for some paths, now. Undefined where the sandbox lacks the tools. */
export function statPaths(
  workspace: CheckpointWorkspace,
  paths: readonly string[],
): Promise<WorkspaceListing | undefined> {
  return listByScript(
    workspace,
    statScript(),
    paths.map((path) => `./${path}`),
  )
}

async function walkByScript(
  workspace: CheckpointWorkspace,
  policy: PathPolicy,
  sentinel: Sentinel | undefined,
): Promise<WorkspaceListing | undefined> {
  const walk = walkScript(policy.pruneTests())
  const listing = await listByScript(workspace, sentinel === undefined ? walk : `${sentinelCommand(sentinel)}\n${walk}`)
  if (listing === undefined && sentinel !== undefined) await writeSentinel(workspace, sentinel)
  return listing
}

async function listByScript(
  workspace: CheckpointWorkspace,
  script: string,
  items: readonly string[] = [],
): Promise<WorkspaceListing | undefined> {
  if (!workspace.handle.capabilities.exec) return undefined
  const { stdout } = await workspace.exec(script, items)
  return stdout.trim() === UNSUPPORTED ? undefined : parseListing(stdout)
}
