import { isHoldfastError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import type { Workspace } from './define-workspace.ts'
import { DEFAULT_WORKSPACE_ROOT } from './define-workspace.ts'

/** Ours inside the workspace. Ignores itself for git; never part of a checkpoint. */
export const PRIVATE_DIR = '.holdfast'

/** What the marker file says: which definition made the workspace, for which key. */
export interface WorkspaceMarker {
  key: string
  workspaceHash: string
}

export function workspaceRoot(workspace: Workspace): string {
  return workspace.root ?? DEFAULT_WORKSPACE_ROOT
}

/** A path of ours in the workspace. */
export function privatePath(workspace: Workspace, name: string): string {
  return `${workspaceRoot(workspace)}/${PRIVATE_DIR}/${name}`
}

/** The file that is written when a workspace is complete. */
export function markerPath(workspace: Workspace): string {
  return privatePath(workspace, 'marker.json')
}

/** Whether the sandbox holds a complete workspace of this definition and key. */
export async function hasMarker(
  handle: SandboxHandle,
  workspace: Workspace,
  marker: WorkspaceMarker,
): Promise<boolean> {
  try {
    return (await handle.fs.read(markerPath(workspace))) === markerText(marker)
  } catch (error) {
    if (isHoldfastError(error, 'FILE_NOT_FOUND')) return false
    throw error
  }
}

export function markerText(marker: WorkspaceMarker): string {
  return `${JSON.stringify({ key: marker.key, workspaceHash: marker.workspaceHash })}\n`
}
