import { InvalidInputError } from '../errors/error-classes.ts'
import { parentOf } from './archive-entry.ts'
import type { ArchiveEntry, ReadArchiveEntry } from './archive-entry.ts'

/** Set-user, set-group and sticky bits are not restored. */
const RESTORED_MODE_BITS = 0o777

/** What must be true of the workspace before an archive is unpacked into it. */
export interface UnpackPlan {
  /** Directories above an entry, each after those above it: only so may they be looked at one by one. */
  readonly parents: Set<string>
  /** Directory entries with their modes. */
  readonly dirs: Map<string, number>
  /** Files and links. */
  readonly leaves: Set<string>
}

/**
 * The entries that may be unpacked, noted in `plan`. Directories come last and innermost first, so that one without
 * write permission still gets what it holds. `INVALID_PATH` for an entry beneath a file or link of the archive, and
 * for kinds that cannot be unpacked safely.
 */
export async function* confinedEntries(
  entries: AsyncIterable<ReadArchiveEntry>,
  plan: UnpackPlan,
): AsyncGenerator<ArchiveEntry, void, undefined> {
  for await (const entry of entries) {
    if (entry.kind === 'hardlink' || entry.kind === 'other') {
      throw refused('holds something other than files, directories and symbolic links', entry.path)
    }
    if (entry.kind === 'dir') {
      if (entry.path !== '.') notePath(plan, entry)
      continue
    }
    notePath(plan, entry)
    yield entry.kind === 'file' ? { ...entry, mode: entry.mode & RESTORED_MODE_BITS } : entry
  }
  for (const leaf of plan.leaves) if (plan.parents.has(leaf)) throw refused('has an entry beneath a file or link', leaf)
  const innermostFirst = [...plan.dirs].sort(([a], [b]) => b.length - a.length)
  for (const [path, mode] of innermostFirst) yield { path, kind: 'dir', mode: mode & RESTORED_MODE_BITS }
}

function notePath(plan: UnpackPlan, entry: ArchiveEntry): void {
  const { path } = entry
  if (path === '.' || plan.dirs.has(path) || plan.leaves.has(path)) throw refused('has a path twice', path)
  if (entry.kind === 'dir') plan.dirs.set(path, entry.mode)
  else plan.leaves.add(path)
  // Above a known directory all are known, which keeps deep trees cheap.
  const missing: string[] = []
  for (let at = parentOf(path); at !== '' && !plan.parents.has(at); at = parentOf(at)) missing.push(at)
  for (const parent of missing.reverse()) plan.parents.add(parent)
}

function refused(fault: string, path: string): InvalidInputError {
  const message = `The archive ${fault}: ${JSON.stringify(path.slice(0, 4_096))}. Nothing was unpacked.`
  return new InvalidInputError('INVALID_PATH', message, { details: { path: path.slice(0, 4_096) } })
}
