import { isHoldfastError } from '@holdfast/core'
import type { BlobStore, CheckpointWriterLease, SandboxCheckpoint } from '@holdfast/core'
import { artifactStoreSuite } from '../../../src/conformance/stores/artifact-store-suite.ts'
import { blobStoreSuite } from '../../../src/conformance/stores/blob-store-suite.ts'
import { checkpointStoreSuite } from '../../../src/conformance/stores/checkpoint-store-suite.ts'
import { override, withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** A key without the promise about its bytes. */
const asUnpromised = (key: string): string => key.replace(/sha256\/([0-9a-f]{64})$/, 'sha256-$1')

const blobMutants: readonly StoreMutant[] = [
  {
    name: 'the hash of a blob is not checked',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      put: (key, body, options) => blobs.put(asUnpromised(key), body, options),
      get: (key, options) => blobs.get(asUnpromised(key), options),
      head: (key) => blobs.head(asUnpromised(key)),
    })),
    detectedBy: ['blob.put.content-key'],
  },
  {
    name: 'the expected length is not checked',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      put: (key, body, options = {}) => {
        const { expectedLength: _expectedLength, ...rest } = options
        return blobs.put(key, body, rest)
      },
    })),
    detectedBy: ['blob.put.expected-length'],
  },
  {
    name: 'a stream that fails leaves what it gave',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({ put: leakyPut(blobs) })),
    detectedBy: ['blob.put.failing-stream'],
  },
  {
    name: 'put keeps the metadata of the blob before',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      put: async (key, body, options) => {
        const before = await blobs.head(key).catch(() => null)
        return blobs.put(key, body, {
          ...(before?.contentType === undefined ? {} : { contentType: before.contentType }),
          ...options,
        })
      },
    })),
    detectedBy: ['blob.put.replaces'],
  },
  {
    name: 'a range ends one byte late',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      get: (key, { range } = {}) => {
        if (range?.length === undefined) return blobs.get(key, range === undefined ? {} : { range })
        return blobs.get(key, { range: { offset: range.offset, length: range.length + 1 } })
      },
    })),
    detectedBy: ['blob.get.ranges', 'blob.input.bad-ones-are-refused'],
  },
  {
    name: 'list takes the prefix as a pattern',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      list: async ({ prefix, ...input } = {}) => {
        if (prefix === undefined) return blobs.list(input)
        const pattern = new RegExp(
          `^${prefix
            .replaceAll('%', '.*')
            .replaceAll('_', '.')
            .replaceAll('*', String.raw`\*`)}`,
        )
        const { objects } = await blobs.list({})
        return { objects: objects.filter(({ key }) => pattern.test(key)) }
      },
    })),
    detectedBy: ['blob.list.prefix'],
  },
  {
    name: 'list orders by UTF-16',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      list: async (input) => {
        const page = await blobs.list(input)
        return { ...page, objects: page.objects.toSorted((left, right) => (left.key < right.key ? -1 : 1)) }
      },
    })),
    detectedBy: ['blob.list.order'],
  },
]

/** Stores what came before a failure, as a store that writes chunk by chunk would. */
function leakyPut(blobs: BlobStore): BlobStore['put'] {
  return async (key, body, options) => {
    if (!(body instanceof ReadableStream)) return blobs.put(key, body, options)
    const pieces: Uint8Array[] = []
    try {
      for await (const piece of body) pieces.push(piece)
    } catch (error) {
      await blobs.put(key, Buffer.concat(pieces), options)
      throw error
    }
    return blobs.put(key, Buffer.concat(pieces), options)
  }
}

const artifactMutants: readonly StoreMutant[] = [
  {
    name: 'save merges with what was there',
    suite: artifactStoreSuite,
    change: withBroken('artifacts', (artifacts) => ({
      save: async (record) => {
        const before = await artifacts.get(record.artifactId).catch(() => null)
        await artifacts.save({ ...before, ...record })
      },
    })),
    detectedBy: ['artifact.save.replaces-all'],
  },
  {
    name: 'lists order ids by UTF-16',
    suite: artifactStoreSuite,
    change: withBroken('artifacts', (artifacts) => ({
      list: async (runId) =>
        (await artifacts.list(runId)).toSorted(
          (left, right) => left.createdAt - right.createdAt || (left.artifactId < right.artifactId ? -1 : 1),
        ),
    })),
    detectedBy: ['artifact.list.order'],
  },
  {
    name: 'delete takes the bytes too',
    suite: artifactStoreSuite,
    change: withBroken('artifacts', (artifacts, { blobs }) => ({
      delete: async (artifactId) => {
        const record = await artifacts.get(artifactId)
        if (record?.blobKey !== undefined) await blobs.delete(record.blobKey)
        await artifacts.delete(artifactId)
      },
    })),
    detectedBy: ['artifact.delete.keeps-bytes'],
  },
]

/** The newest lease of each thread, for mutants that let an older one act for it. */
function leaseBook(): Map<string, CheckpointWriterLease> {
  return new Map()
}

function withStored(change: (checkpoint: SandboxCheckpoint) => SandboxCheckpoint): StoreMutant['change'] {
  return withBroken('checkpoints', (checkpoints) => ({
    append: (input) => checkpoints.append({ ...input, checkpoint: change(input.checkpoint) }),
  }))
}

const checkpointMutants: readonly StoreMutant[] = [
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

export const CONTENT_MUTANTS: readonly StoreMutant[] = [...blobMutants, ...artifactMutants, ...checkpointMutants]
