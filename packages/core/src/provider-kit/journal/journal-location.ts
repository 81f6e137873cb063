import { InvalidInputError } from '../../errors/error-classes.ts'
import type { SandboxHandle } from '../../sandbox/sandbox-handle.ts'
import { shellQuote } from '../shell-quote.ts'
import { isInsideWorkspace, resolveWorkspacePath, VIRTUAL_ROOT } from '../workspace-path.ts'
import { journalName } from './journal-name.ts'

/** What a journal needs of a sandbox. */
export type JournalHandle = Pick<SandboxHandle, 'process' | 'capabilities' | 'workspaceRoot'>

/** Where a journal's files are. */
export interface JournalLocation {
  handle: JournalHandle
  runId: string
  /** Where the journals of a sandbox are, in the workspace or an absolute path. Default `.holdfast/journals`. */
  dir?: string
}

/** Where journals are when nobody says otherwise, relative to the workspace. */
export const DEFAULT_JOURNAL_DIR = '.holdfast/journals'

/** Shell lines that put the journal directory into `$d`. */
export function directoryLines({ handle, dir }: Pick<JournalLocation, 'handle' | 'dir'>): string {
  const isElsewhere = dir?.startsWith('/') === true && !isInsideWorkspace(VIRTUAL_ROOT, dir)
  const path = isElsewhere ? dir : realPath(handle, dir ?? DEFAULT_JOURNAL_DIR)
  return `d=${shellQuote(path)}; case $d in /*) ;; *) d=$(pwd)/$d ;; esac`
}

/** Shell lines that put the journal directory into `$d` and the beginning of this journal's file names into `$b`. */
export function locationLines(location: JournalLocation): string {
  return `${directoryLines(location)}; b=$d/${journalName(location.runId)}`
}

/** A path of the workspace as commands see it. Where the root is unknown, commands start in it. */
export function realPath(handle: JournalHandle, path: string): string {
  if (path === '') throw new InvalidInputError('INVALID_PATH', 'A path must not be empty.')
  return handle.workspaceRoot === undefined ? path : resolveWorkspacePath(handle.workspaceRoot, path)
}
