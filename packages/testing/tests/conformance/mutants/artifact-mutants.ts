import { artifactStoreSuite } from '../../../src/conformance/stores/artifact-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** Wrong artifact stores. */
export const ARTIFACT_MUTANTS: readonly StoreMutant[] = [
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
