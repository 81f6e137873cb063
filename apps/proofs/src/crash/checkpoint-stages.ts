import { createCheckpoints } from '@holdfast/middleware'
import type { Checkpoints } from '@holdfast/middleware'
import type { SandboxHandle } from '@holdfast/core'
import { crashSandbox, fastClock } from './crash-app.mjs'
import type { SecondHost } from './crash-round.ts'

/** What happens to a workspace, one stage after the other: kinds, modes and links change. */
const STAGES = [
  'mkdir -p dir/nested; echo one > file; echo deep > dir/nested/leaf; echo run > run.sh; chmod 755 run.sh; ln -s file link',
  'echo two > file; rm -r dir/nested; mkdir new; echo new > new/b; chmod 600 run.sh; rm link; ln -s new link',
  'echo three > file; rm link; mkdir link; echo in > link/inside; rm -r new; echo file > new; chmod 750 dir',
]

/** Which stage something is at: 1 to 3. */
export type Stage = 1 | 2 | 3

export const LAST_STAGE: Stage = 3

/** A thread at stage 3, whose checkpoints are of stages 1 and 2. */
export interface StagedThread {
  readonly threadId: string
  readonly first: string
  readonly head: string
  /** A sandbox of nobody, with something in it. */
  readonly sandboxId: string
  /** No thread yet. */
  readonly forkId: string
}

export function checkpointsOf({ stores, provider }: SecondHost): Checkpoints {
  return createCheckpoints({ stores, sandbox: crashSandbox(provider), clock: fastClock })
}

export async function stageThread(second: SecondHost, threadId: string): Promise<StagedThread> {
  const { stores, provider } = second
  const checkpoints = checkpointsOf(second)
  await stores.threads.ensure({ threadId, ownerId: 'local' })
  const context = { threadId, runId: `${threadId}-run`, store: stores.instances, locks: stores.locks, clock: fastClock }
  const handle = await crashSandbox(provider).ensure(context)
  const saved: string[] = []
  for (const [index, script] of STAGES.entries()) {
    await sh(handle, script)
    const stage = (index + 1) as Stage
    const conversation = textsAt(stage).map((content) => ({ role: 'user' as const, id: content, content }))
    await stores.messages.saveThread(threadId, conversation)
    await checkpoints.artifacts.save({ threadId, name: `artifact-${stage}.txt`, body: `artifact ${stage}` })
    if (stage < LAST_STAGE) saved.push((await checkpoints.save({ threadId })).id)
  }
  const [first = '', head = ''] = saved
  const other = await provider.create({ id: `${threadId}-other` })
  await sh(other, 'mkdir file; echo old > file/junk; echo old > junk')
  return { threadId, first, head, sandboxId: other.id, forkId: `${threadId}-fork` }
}

/** What the conversation says at a stage. */
export function textsAt(stage: Stage): string[] {
  return Array.from({ length: stage }, (_, index) => `stage ${index + 1}`)
}

/** Which artifacts a thread has at a stage. */
export function artifactsAt(stage: Stage): string[] {
  return Array.from({ length: stage }, (_, index) => `artifact-${index + 1}.txt`)
}

/** The workspaces of all stages, as `treeOf` tells them. */
export async function stagedTrees({ provider }: SecondHost): Promise<ReadonlyMap<Stage, string>> {
  const handle = await provider.create({ id: 'staged-trees' })
  const trees = new Map<Stage, string>()
  for (const [index, script] of STAGES.entries()) {
    await sh(handle, script)
    trees.set((index + 1) as Stage, await treeOf(handle))
  }
  await provider.destroy({ id: handle.id })
  return trees
}

/** Kinds, modes, targets and contents of a workspace, but for what the model of the crash app writes. */
export function treeOf(handle: SandboxHandle): Promise<string> {
  const ours = String.raw`\( -name .holdfast -o -name work.txt \) -prune -o`
  return sh(
    handle,
    [
      'LC_ALL=C; export LC_ALL',
      String.raw`find . -mindepth 1 ${ours} -printf '%P %y %m %l\n' | sort`,
      `find . -mindepth 1 ${ours} -type f -exec sha256sum {} + | sort -k 2`,
    ].join('\n'),
  )
}

async function sh(handle: SandboxHandle, script: string): Promise<string> {
  const { exitCode, stdout, stderr } = await handle.process.exec(script)
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr}`)
  return stdout
}
