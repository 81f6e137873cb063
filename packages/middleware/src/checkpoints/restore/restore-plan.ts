import type { CheckpointEntry, SandboxCheckpoint } from '@holdfast/core'
import type { PathPolicy } from '../policy/path-policy.ts'
import type { WorkspaceEntry, WorkspaceListing } from '../workspace/workspace-entry.ts'
import type { ClearingPlan } from '../workspace/write-files.ts'

type FileEntry = Extract<CheckpointEntry, { kind: 'file' }>

/** What a restore must reach, and what it leaves alone. */
export class RestoreTarget {
  readonly wanted: ReadonlyMap<string, CheckpointEntry>
  readonly policy: PathPolicy
  readonly comparesModes: boolean
  /** Directories above a wanted entry. */
  readonly #implied = new Set<string>()
  /** What the capture could not keep: the restore does not take it for removed. */
  readonly #untold: ReadonlySet<string>

  constructor(input: {
    checkpoint: SandboxCheckpoint
    entries: readonly CheckpointEntry[]
    policy: PathPolicy
    comparesModes: boolean
  }) {
    this.wanted = new Map(input.entries.map((entry) => [entry.path, entry]))
    this.policy = input.policy
    this.comparesModes = input.comparesModes
    for (const { path } of input.entries) addParents(this.#implied, path)
    const untold = input.checkpoint.report?.filter(({ what }) => what === 'skipped' || what === 'excluded') ?? []
    this.#untold = new Set(untold.map(({ path }) => path))
  }

  isImplied(path: string): boolean {
    return this.#implied.has(path)
  }

  /** Whether a live entry that is not wanted must go. */
  isSurplus({ path, kind }: WorkspaceEntry): boolean {
    if (this.wanted.has(path) || !this.policy.covers(path)) return false
    if (this.isImplied(path)) return kind !== 'dir'
    return kind !== 'other' && !this.#isUntold(path)
  }

  #isUntold(path: string): boolean {
    if (this.#untold.size === 0) return false
    for (let at = path; at !== ''; at = parentOf(at)) if (this.#untold.has(at)) return true
    return false
  }

  /** Whether a live entry is what is wanted, as far as can be told without its content. */
  looksRight(entry: CheckpointEntry, live: WorkspaceEntry | undefined): boolean {
    if (live?.kind !== entry.kind) return false
    if (entry.kind === 'symlink') return live.target === entry.target
    if (this.comparesModes && entry.mode !== undefined && entry.mode !== live.mode) return false
    return entry.kind === 'dir' || live.size === entry.size
  }
}

export interface RestorePlan {
  readonly write: readonly CheckpointEntry[]
  readonly clear: ClearingPlan
  /** Entries that went, without those that are replaced. */
  readonly removed: number
}

/** Files that have the right size and mode, so that only their content can tell. */
export function doubtfulFiles(target: RestoreTarget, listing: WorkspaceListing): FileEntry[] {
  const files = [...target.wanted.values()].filter((entry): entry is FileEntry => entry.kind === 'file')
  return files.filter((entry) => target.looksRight(entry, listing.entries.get(entry.path)))
}

/** `hashes` are those of the doubtful files. */
export function planRestore(
  target: RestoreTarget,
  listing: WorkspaceListing,
  hashes: ReadonlyMap<string, string>,
): RestorePlan {
  const leaves: string[] = []
  const trees: string[] = []
  const dirs: string[] = []
  for (const entry of listing.entries.values()) {
    if (!target.isSurplus(entry) && !blocksParent(target, entry)) continue
    if (entry.kind === 'dir') dirs.push(entry.path)
    else leaves.push(entry.path)
  }
  const removed = leaves.length + dirs.length
  const write: CheckpointEntry[] = []
  for (const entry of target.wanted.values()) {
    const live = listing.entries.get(entry.path)
    if (target.looksRight(entry, live) && (entry.kind !== 'file' || hashes.get(entry.path) === hashOf(entry))) continue
    write.push(entry)
    if (live === undefined || live.kind === entry.kind) continue
    if (live.kind === 'dir') trees.push(entry.path)
    else leaves.push(entry.path)
  }
  const opened = closedDirs(listing, [...write.map(({ path }) => path), ...leaves, ...dirs])
  write.push(
    ...opened.filter(({ path }) => !write.some((entry) => entry.path === path)).map((dir) => modeOf(target, dir)),
  )
  dirs.sort((a, b) => b.length - a.length)
  return { write, clear: { opened: opened.map(({ path }) => path), leaves, trees, dirs }, removed }
}

export function hashOf(entry: FileEntry): string {
  return entry.blobKey.slice(entry.blobKey.lastIndexOf('/') + 1)
}

/** The directory above; empty for the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** Adds the directories above. Above a known one all are known, which keeps deep trees cheap. */
export function addParents(known: Set<string>, path: string): void {
  for (let at = parentOf(path); at !== '' && !known.has(at); at = parentOf(at)) known.add(at)
}

/** Something that is no directory stands above a wanted entry, be it outside of the policy. */
function blocksParent(target: RestoreTarget, { path, kind }: WorkspaceEntry): boolean {
  return kind !== 'dir' && target.isImplied(path)
}

/** Directories that their owner may not change, above what is to be changed. Outermost first. */
function closedDirs(listing: WorkspaceListing, paths: readonly string[]): WorkspaceEntry[] {
  const parents = new Set<string>()
  for (const path of paths) addParents(parents, path)
  const closed = [...parents].flatMap((path) => listing.entries.get(path) ?? [])
  const found = closed.filter(({ kind, mode }) => kind === 'dir' && (mode & 0o700) !== 0o700)
  return found.toSorted((a, b) => a.path.length - b.path.length)
}

/** Gives a directory that was opened its mode: the wanted one, or the one it had. */
function modeOf(target: RestoreTarget, { path, mode }: WorkspaceEntry): CheckpointEntry {
  const wanted = target.wanted.get(path)
  return wanted?.kind === 'dir' ? wanted : { path, kind: 'dir', mode }
}
