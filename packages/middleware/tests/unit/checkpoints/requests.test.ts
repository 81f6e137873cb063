import { MemoryBlobStore, MemoryMetadataStore } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { loadStamps, saveStamps } from '../../../src/checkpoints/capture/stat-cache.ts'
import { countingSandbox } from '../../fixtures/counting-sandbox.ts'
import { capture, checkpointOf, restore, sh } from '../../fixtures/workspace-fixture.ts'

const FILES = 2_000

/** Lets the sandbox's clock run ahead: what changed within two seconds before a listing proves nothing yet. */
async function liveLater(handle: SandboxHandle): Promise<void> {
  await handle.fs.write('/workspace/.holdfast/bin/date', '#!/bin/sh\necho 9999999999\n')
  await handle.fs.chmod?.('/workspace/.holdfast/bin/date', 0o755)
  await handle.env.set({ PATH: `${handle.workspaceRoot}/.holdfast/bin:${process.env['PATH']}` })
}

describe('2,000 files', () => {
  it('take a few requests, whatever was done to them', async () => {
    const sandbox = await countingSandbox()
    const { handle } = sandbox
    await sh(handle, `i=0; while [ $i -lt ${FILES} ]; do printf "content $i" > "file-$i"; i=$((i+1)); done`)
    await liveLater(handle)
    const blobs = new MemoryBlobStore()
    const place = { sandboxId: handle.id, root: '/workspace' }
    const metadata = new MemoryMetadataStore()

    const first = await sandbox.count(() => capture(handle, { blobs }))
    expect(first.result.files).toHaveLength(FILES)
    expect(first.requests).toBeLessThanOrEqual(6)

    const head = checkpointOf(first.result.files)
    await saveStamps(metadata, head, place, first.result.stamps)
    const stamps = await loadStamps(metadata, head, place)
    const parent = head.files
    const unchanged = await sandbox.count(() => capture(handle, { blobs, parent, stamps }))
    expect(unchanged.result.files).toEqual(parent)
    expect(unchanged.requests).toBe(1)
    expect(unchanged.result.sizes).toMatchObject({ addedBytes: 0, changedFiles: 0 })

    const withoutStamps = await sandbox.count(() => capture(handle, { blobs, parent }))
    expect(withoutStamps.result.files).toEqual(parent)
    expect(withoutStamps.requests).toBe(2)

    await sh(handle, 'for i in 1 2 3 4 5; do printf "changed $i!!" > "file-$i"; done')
    const changed = await sandbox.count(() => capture(handle, { blobs, parent, stamps }))
    expect(changed.result.sizes.changedFiles).toBe(5)
    expect(changed.requests).toBeLessThanOrEqual(6)

    const back = await sandbox.count(() => restore(handle, blobs, head))
    expect(back.result).toMatchObject({ written: 5, removed: 0 })
    expect(back.requests).toBeLessThanOrEqual(11)

    const empty = await countingSandbox()
    const into = await empty.count(() => restore(empty.handle, blobs, head))
    expect(into.result.written).toBe(FILES)
    expect(into.requests).toBeLessThanOrEqual(10)
  }, 60_000)
})
