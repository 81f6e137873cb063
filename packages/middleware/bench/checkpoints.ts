import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlobStore, CheckpointEntry, SandboxCheckpoint, SandboxHandle } from '@holdfast/core'
import { processProvider } from '@holdfast/testing'
import { captureWorkspace } from '../src/checkpoints/capture/capture-workspace.ts'
import type { CapturedWorkspace } from '../src/checkpoints/capture/capture-workspace.ts'
import type { FileStamps } from '../src/checkpoints/capture/stat-cache.ts'
import { checkpointLimits } from '../src/checkpoints/policy/checkpoint-limits.ts'
import { PathPolicy } from '../src/checkpoints/policy/path-policy.ts'
import { restoreWorkspace } from '../src/checkpoints/restore/restore-workspace.ts'
import { CheckpointWorkspace } from '../src/checkpoints/workspace/checkpoint-workspace.ts'
import { SecretRedactor } from '../src/secrets/secret-redactor.ts'
import { countedSandbox, filesAlone } from './counted-sandbox.ts'
import type { RequestCount } from './counted-sandbox.ts'
import { DirectoryBlobStore } from './directory-blob-store.ts'
import { measureWork } from './measure-work.ts'

const MANY_FILES = 2_000
const FEW_FILES = 100
const DELAY_MS = 20
const MIB = 1024 * 1024
const MAX_REQUESTS = 6
const MIN_FEWER = 100
const MAX_HELD_BYTES = 64 * MIB

interface Job {
  name: string
  work: (handle: SandboxHandle) => Promise<unknown>
}

interface Setup {
  fileCount: number
  sandbox: () => Promise<SandboxHandle>
  blobs: BlobStore
}

/**
 * 2,000 files behind a service with 20 ms a request, beside the same jobs file by file; then 1 GiB for its memory.
 * `large`: the latter alone. `small`: 100 files and no GiB, to try the program; the budgets are for the full size.
 */
export async function benchCheckpoints(args: readonly string[] = []): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  const provider = processProvider({ dir: join(dir, 'sandboxes') })
  const ids: string[] = []
  const sandbox = (): Promise<SandboxHandle> => {
    ids.push(`bench-${ids.length}`)
    return provider.create({ id: ids.at(-1) ?? '' })
  }
  const isSmall = args.includes('small')
  const fileCount = isSmall ? FEW_FILES : MANY_FILES
  const setup: Setup = { fileCount, sandbox, blobs: new DirectoryBlobStore(join(dir, 'blobs')) }
  try {
    printRow([
      'job',
      'requests',
      'file by file',
      'fewer',
      'time',
      'file by file',
      'MiB moved',
      'MiB held',
      'budget',
      '',
    ])
    console.log('|---|--:|--:|--:|--:|--:|--:|--:|---|---|')
    const many = args.includes('large') ? [] : await benchManyFiles(setup)
    const large = isSmall ? [] : await benchLargeWorkspace(setup)
    const faults = [...many, ...large]
    console.log(faults.length === 0 ? 'ok: every budget holds' : `falls short: ${faults.join('; ')}`)
    process.exitCode = faults.length === 0 ? 0 : 1
  } finally {
    for (const id of ids) await provider.destroy({ id })
    await rm(dir, { recursive: true, force: true })
  }
}

async function benchManyFiles({ fileCount, sandbox, blobs }: Setup): Promise<string[]> {
  const real = await sandbox()
  await sh(
    real,
    `i=0; while [ $i -lt ${fileCount} ]; do d="dir-$((i % 40))"; mkdir -p $d; printf "file $i %2000s" x > "$d/file-$i"; i=$((i+1)); done; find . -type f -exec touch -d '1 hour ago' {} +; sleep 3`,
  )
  const first = await capture(real, blobs)
  const head = checkpointOf(first.files)
  const edit = 'for i in 1 2 3 4 5; do printf "changed $(date +%N)" > "dir-$i/file-$i"; done'
  const jobs: Job[] = [
    { name: 'first capture', work: (handle) => capture(handle, blobs) },
    { name: 'nothing changed', work: (handle) => capture(handle, blobs, head, first.stamps) },
    { name: '5 files changed', work: async (handle) => capture(handle, blobs, head, first.stamps) },
    { name: 'restore of 5 changes', work: (handle) => restore(handle, blobs, head) },
  ]
  const faults: string[] = []
  for (const job of jobs) {
    if (job.name.includes('5')) await sh(real, edit)
    faults.push(...(await compare(job, real, real)))
  }
  const restoring = { name: 'restore to empty', work: (handle: SandboxHandle) => restore(handle, blobs, head) }
  faults.push(...(await compare(restoring, await sandbox(), await sandbox())))
  return faults
}

/** File by file takes minutes, so its delays are added up instead of waited for. */
async function compare({ name, work }: Job, ours: SandboxHandle, theirs: SandboxHandle): Promise<string[]> {
  const fast = countedSandbox(ours, { delayMs: DELAY_MS })
  const { cost } = await measureWork(fast.total, () => work(fast.handle))
  if (name.startsWith('restore of')) await sh(ours, 'for i in 1 2 3 4 5; do printf changed > "dir-$i/file-$i"; done')
  const slow = countedSandbox(theirs)
  const plain = (await measureWork(slow.total, () => work(filesAlone(slow.handle)))).cost
  plain.ms += plain.requests * DELAY_MS
  const fewer = plain.requests / cost.requests
  const isFew = cost.requests <= MAX_REQUESTS && fewer >= MIN_FEWER
  const hasBudget = name === 'nothing changed'
  const requests = [String(cost.requests), String(plain.requests), `${fewer.toFixed(0)} ×`]
  const spent = [seconds(cost.ms), seconds(plain.ms), mebibytes(cost.bytes), mebibytes(cost.heldBytes)]
  const budget = hasBudget ? [`requests ≤ ${MAX_REQUESTS}, fewer ≥ ${MIN_FEWER} ×`, verdict(isFew)] : ['', '']
  printRow([name, ...requests, ...spent, ...budget])
  if (!hasBudget) return []
  return isFew ? [] : [`${name} takes ${cost.requests} requests, ${fewer.toFixed(0)} times fewer`]
}

async function benchLargeWorkspace({ sandbox, blobs }: Setup): Promise<string[]> {
  const real = await sandbox()
  const total: RequestCount = { requests: 0, bytes: 0 }
  await sh(real, 'i=0; while [ $i -lt 16 ]; do head -c 67108864 /dev/urandom > "part-$i"; i=$((i+1)); done')
  // Both ways once before with less, so that code and the allocator's pools are there.
  const small = await sandbox()
  await sh(small, 'head -c 67108864 /dev/urandom > part')
  await restore(await sandbox(), blobs, checkpointOf((await capture(small, blobs)).files))
  const saved = await measureWork(total, () => capture(real, blobs))
  const empty = await sandbox()
  const restored = await measureWork(total, () => restore(empty, blobs, checkpointOf(saved.result.files)))
  const faults: string[] = []
  for (const [name, { cost }] of [
    ['capture of 1 GiB', saved],
    ['restore of 1 GiB', restored],
  ] as const) {
    const isFlat = cost.heldBytes <= MAX_HELD_BYTES
    const budget = [`held ≤ ${MAX_HELD_BYTES / MIB} MiB`, verdict(isFlat)]
    printRow([name, '', '', '', seconds(cost.ms), '', '1024', mebibytes(cost.heldBytes), ...budget])
    if (!isFlat) faults.push(`${name} needs ${mebibytes(cost.heldBytes)} MiB`)
  }
  return faults
}

function capture(
  handle: SandboxHandle,
  blobs: BlobStore,
  parent?: SandboxCheckpoint,
  stamps: FileStamps = new Map(),
): Promise<CapturedWorkspace> {
  return captureWorkspace({
    workspace: new CheckpointWorkspace({ handle }),
    policy: new PathPolicy(),
    limits: checkpointLimits(),
    redactor: new SecretRedactor([]),
    blobs,
    parent: parent?.files ?? [],
    stamps,
  })
}

async function restore(handle: SandboxHandle, blobs: BlobStore, checkpoint: SandboxCheckpoint): Promise<void> {
  const workspace = new CheckpointWorkspace({ handle })
  await restoreWorkspace({ workspace, checkpoint, blobs, limits: checkpointLimits() })
}

function checkpointOf(files: CheckpointEntry[]): SandboxCheckpoint {
  const ids = { id: 'checkpoint-1', threadId: 'thread-1', parentCheckpointId: null }
  const policy = new PathPolicy().stored
  return { ...ids, createdAt: 1, reason: 'automatic', files, conversation: [], artifacts: [], policy }
}

async function sh(handle: SandboxHandle, script: string): Promise<void> {
  const { exitCode, stderr } = await handle.process.exec(script)
  if (exitCode !== 0) throw new Error(stderr)
}

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

const verdict = (holds: boolean): string => (holds ? 'holds' : '**missed**')

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`
}

function mebibytes(bytes: number): string {
  return (bytes / MIB).toFixed(1)
}
