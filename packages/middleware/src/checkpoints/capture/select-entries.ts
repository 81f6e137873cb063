import type { CheckpointEntry } from '@holdfast/core'
import type { SecretRedactor } from '../../secrets/secret-redactor.ts'
import { limitExceeded } from '../policy/checkpoint-limits.ts'
import type { CheckpointLimits } from '../policy/checkpoint-limits.ts'
import type { PathPolicy } from '../policy/path-policy.ts'
import type { WorkspaceEntry, WorkspaceListing } from '../workspace/workspace-entry.ts'
import type { CaptureReport } from './capture-report.ts'
import { secretFound } from './redacted-body.ts'

export interface SelectInput {
  listing: WorkspaceListing
  policy: PathPolicy
  limits: CheckpointLimits
  redactor: SecretRedactor
  report: CaptureReport
}

export interface SelectedEntries {
  readonly files: WorkspaceEntry[]
  /** Directories and links, which need no content. */
  readonly others: CheckpointEntry[]
}

/** What of a listing goes into a checkpoint; the rest is reported. */
export function selectEntries(input: SelectInput): SelectedEntries {
  const { listing, policy, report } = input
  reportLeftOut(input)
  const selected: SelectedEntries = { files: [], others: [] }
  for (const entry of listing.entries.values()) {
    if (!policy.covers(entry.path) || hasSecret(input, entry)) continue
    if (entry.kind === 'file') selected.files.push(entry)
    else if (entry.kind === 'dir') selected.others.push({ path: entry.path, kind: 'dir', mode: entry.mode })
    else if (entry.target !== undefined)
      selected.others.push({ path: entry.path, kind: 'symlink', target: entry.target })
    else report.add('skipped', entry.path, 'it is a pipe, a socket, a device or the like')
  }
  assertSizes(selected.files, input)
  return selected
}

function reportLeftOut({ listing, policy, report }: SelectInput): void {
  for (const { path, reason } of listing.unusable) report.add('skipped', path, reason)
  const excluded = [...listing.excluded, ...listing.entries.keys()].filter((path) => policy.isExcluded(path))
  for (const path of excluded) {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    const isOurs = path === '.holdfast'
    if (!isOurs && (parent === '' || !policy.isExcluded(parent))) report.add('excluded', path, 'the policy excludes it')
  }
}

/** A secret in a name or a target cannot be replaced without making another file of it, so the entry stays out. */
function hasSecret({ redactor, policy, report }: SelectInput, { path, target = '' }: WorkspaceEntry): boolean {
  if (redactor.isEmpty || !(redactor.hasSecret(path) || redactor.hasSecret(target))) return false
  if (policy.stored.onSecret === 'refuse') throw secretFound(redactor.text(path))
  report.add('excluded', path, 'its name or target holds a registered secret')
  return true
}

function assertSizes(files: readonly WorkspaceEntry[], { limits, redactor }: SelectInput): void {
  let total = 0
  for (const { path, size } of files) {
    const at = { path: redactor.text(path), size }
    if (size > limits.maxFileBytes) throw limitExceeded({ limit: 'maxFileBytes', max: limits.maxFileBytes, ...at })
    total += size
    if (total > limits.maxTotalBytes) throw limitExceeded({ limit: 'maxTotalBytes', max: limits.maxTotalBytes, ...at })
  }
}
