import { MemoryBlobStore } from '@holdfast/core'
import type { CheckpointEntry, SandboxHandle } from '@holdfast/core'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  capture,
  checkpointOf,
  memorySandbox,
  processSandbox,
  restore,
  treeOf,
} from '../../fixtures/workspace-fixture.ts'

/** Few names, so that edits hit each other: files become directories, links become files. */
const name = fc.constantFrom('a', 'b', 'ü', 'with space', "q'", 'new\nline')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const bytes = fc.oneof(fc.uint8Array({ maxLength: 64 }), fc.constant(new Uint8Array(70_000).fill(97)))

type Edit =
  | { do: 'write'; path: string; bytes: Uint8Array; mode: number }
  | { do: 'mkdir'; path: string; mode: number }
  | { do: 'link'; path: string; target: string }
  | { do: 'remove'; path: string }

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ do: fc.constant('write' as const), path, bytes, mode: fc.constantFrom(0o644, 0o755, 0o600, 0o444) }),
  fc.record({ do: fc.constant('mkdir' as const), path, mode: fc.constantFrom(0o755, 0o700) }),
  fc.record({ do: fc.constant('link' as const), path, target: fc.constantFrom('a', '../b', '/etc/passwd', 'missing') }),
  fc.record({ do: fc.constant('remove' as const), path }),
)

/** What stands in the way goes first; a path through a link is not written to. */
async function apply({ fs }: SandboxHandle, change: Edit): Promise<void> {
  const parts = change.path.split('/')
  for (let length = 1; length < parts.length; length += 1) {
    const parent = `/workspace/${parts.slice(0, length).join('/')}`
    const stat = await fs.lstat?.(parent)
    if (stat !== undefined && stat.type !== 'dir') await fs.remove(parent)
  }
  const at = `/workspace/${change.path}`
  const stat = await fs.lstat?.(at)
  if (change.do === 'remove' || (stat !== undefined && (stat.type !== 'file' || change.do !== 'write')))
    await fs.remove(at)
  if (change.do === 'write') {
    await fs.write(at, change.bytes)
    await fs.chmod?.(at, change.mode)
  } else if (change.do === 'mkdir') {
    await fs.mkdir(at)
    await fs.chmod?.(at, change.mode)
  } else if (change.do === 'link') {
    await fs.mkdir(at.slice(0, at.lastIndexOf('/')))
    await fs.symlink?.(change.target, at)
  }
}

describe('any workspace, after any edits', () => {
  it('is the same in the next sandbox, five times in a row, on whatever provider that is', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(edit, { maxLength: 12 }), { minLength: 5, maxLength: 5 }), async (cycles) => {
        runs += 1
        const blobs = new MemoryBlobStore()
        let files: CheckpointEntry[] = []
        for (const [cycle, edits] of cycles.entries()) {
          const id = `sandbox-${runs}-${cycle}`
          const handle = cycle % 2 === 0 ? await memorySandbox(id) : await processSandbox(id)
          await restore(handle, blobs, checkpointOf(files))
          expect(await treeOf(handle)).toEqual(files)
          for (const change of edits) await apply(handle, change)
          const parent = files
          files = (await capture(handle, { blobs, parent })).files
          expect(files).toEqual(await treeOf(handle))
        }
        // And backwards in place: the last sandbox becomes what the checkpoint says, from any state.
        const last = await processSandbox(`sandbox-${runs}-last`)
        for (const change of cycles.flat()) await apply(last, change)
        await restore(last, blobs, checkpointOf(files))
        expect(await treeOf(last)).toEqual(files)
      }),
      { numRuns: 5 },
    )
  }, 120_000)
})
