import { isHoldfastError } from '@holdfast/core'
import type { CheckpointWriterLease, SandboxCheckpoint } from '@holdfast/core'
import { checkpointStoreSuite } from '../../../src/conformance/stores/checkpoint-store-suite.ts'
import { override, withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** The newest lease of each thread, for mutants that let an older one act for it. */
function leaseBook(): Map<string, CheckpointWriterLease> {
  return new Map()
}

function withStored(change: (checkpoint: SandboxCheckpoint) => SandboxCheckpoint): StoreMutant['change'] {
  return withBroken('checkpoints', (checkpoints) => ({
    append: (input) => checkpoints.append({ ...input, checkpoint: change(input.checkpoint) }),
  }))
}

/** Wrong checkpoint stores. */
export const CHECKPOINT_MUTANTS: readonly StoreMutant[] = [
  {
    name: 'the head is not compared',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints) => ({
      append: async (input) => {
        const expectedHeadId = await checkpoints.getHead(input.checkpoint.threadId).catch(() => null)
        return checkpoints.append({ ...input, expectedHeadId })
      },
    })),
    detectedBy: ['checkpoint.append.stale-head'],
  },
  {
    name: 'the parent is not compared',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints) => ({
      append: (input) =>
        checkpoints.append(input).catch((error: unknown) => {
          if (!isHoldfastError(error, 'SANDBOX_SNAPSHOT_PARENT_MISMATCH')) throw error
          const checkpoint = { ...input.checkpoint, parentCheckpointId: input.expectedHeadId }
          return checkpoints.append({ ...input, checkpoint })
        }),
    })),
    detectedBy: ['checkpoint.append.parent-mismatch'],
  },
  {
    name: 'a stale lease releases the newer one',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints) => {
      const newest = leaseBook()
      return {
        acquireWriter: async (threadId, options) => {
          const lease = await checkpoints.acquireWriter(threadId, options)
          newest.set(threadId, lease)
          return override(lease, { release: async () => newest.get(threadId)?.release() })
        },
      }
    }),
    detectedBy: ['checkpoint.writer.release', 'checkpoint.writer.superseded'],
  },
  {
    name: 'a superseded writer may append',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints) => {
      const newest = leaseBook()
      const current = (writer: CheckpointWriterLease) => newest.get(writer.threadId) ?? writer
      return {
        acquireWriter: async (threadId, options) => {
          const lease = await checkpoints.acquireWriter(threadId, options)
          newest.set(threadId, lease)
          return lease
        },
        append: (input) => {
          const isOwn = input.writer.threadId === input.checkpoint.threadId && input.writer.ownerToken !== 'invented'
          return checkpoints.append(isOwn ? { ...input, writer: current(input.writer) } : input)
        },
      }
    }),
    detectedBy: ['checkpoint.writer.superseded', 'checkpoint.append.writer-lost'],
  },
  {
    name: 'a forced writer waits like any other',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints) => ({
      acquireWriter: (threadId) => checkpoints.acquireWriter(threadId),
    })),
    detectedBy: ['checkpoint.writer.forced'],
  },
  {
    name: 'the fence starts again',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints) => {
      const real = new WeakMap<CheckpointWriterLease, CheckpointWriterLease>()
      const realOf = (writer: CheckpointWriterLease) => real.get(writer) ?? writer
      return {
        acquireWriter: async (threadId, options) => {
          const lease = await checkpoints.acquireWriter(threadId, options)
          const shown = { ...lease, fence: 1 }
          real.set(shown, lease)
          return shown
        },
        append: (input) => checkpoints.append({ ...input, writer: realOf(input.writer) }),
        deleteHead: (input) => checkpoints.deleteHead({ ...input, writer: realOf(input.writer) }),
        forkFromCheckpoint: (input) =>
          checkpoints.forkFromCheckpoint?.({ ...input, writer: realOf(input.writer) }) ??
          Promise.reject(new Error('no fork')),
      }
    }),
    detectedBy: ['checkpoint.writer.release', 'checkpoint.writer.superseded'],
  },
  {
    name: 'modes are lost',
    suite: checkpointStoreSuite,
    change: withStored((checkpoint) => ({
      ...checkpoint,
      files: checkpoint.files.map((entry) => {
        if (entry.kind === 'symlink' || entry.mode === undefined || entry.mode > 0o7777) return entry
        const { mode: _mode, ...rest } = entry
        return rest
      }),
    })),
    detectedBy: ['checkpoint.append.keeps-everything', 'checkpoint.copies'],
  },
  {
    name: 'references are counted by entry',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints) => ({
      listBlobReferences: async () => {
        const references = await checkpoints.listBlobReferences()
        const all = (await Promise.all(['thread-1', 'thread-2'].map((threadId) => checkpoints.list(threadId)))).flat()
        const entries = all.flatMap(({ files }) => files)
        return references.map(({ key, references: count }) => ({
          key,
          references: Math.max(count, entries.filter((entry) => entry.kind === 'file' && entry.blobKey === key).length),
        }))
      },
    })),
    detectedBy: ['checkpoint.references'],
  },
  {
    name: 'a fork forgets the transcript',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints, { messages }) => ({
      forkFromCheckpoint: async (input) => {
        const forked = await checkpoints.forkFromCheckpoint?.(input)
        await messages.saveThread(input.destinationThreadId, [])
        return forked as { checkpoint: SandboxCheckpoint }
      },
    })),
    detectedBy: ['checkpoint.fork'],
  },
  {
    name: 'summaries come oldest first',
    suite: checkpointStoreSuite,
    change: withBroken('checkpoints', (checkpoints) => ({
      listSummaries: async (input) => {
        const page = await checkpoints.listSummaries?.(input)
        return { ...page, checkpoints: page?.checkpoints.toReversed() ?? [] }
      },
    })),
    detectedBy: ['checkpoint.summaries', 'checkpoint.summaries.pages'],
  },
]
