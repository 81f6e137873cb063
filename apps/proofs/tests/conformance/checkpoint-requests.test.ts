import { createMemoryStores } from '@holdfast/core'
import { createCheckpoints, defineSandbox } from '@holdfast/middleware'
import { daytonaProvider } from '@holdfast/provider-daytona'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import { describe, expect, it, onTestFinished } from 'vitest'

const FILES = 2_000
const thread = { threadId: 'thread-1' }

describe('the requests to Daytona', { timeout: 120_000 }, () => {
  it(`of a checkpoint of ${FILES} files are at most 6, whether nothing changed or a few did`, async () => {
    const server = await startDaytonaServer()
    const provider = daytonaProvider({ apiUrl: server.url, apiKey: server.apiKey, target: 'us' })
    onTestFinished(async () => {
      await provider.close?.()
      await server.close()
    })
    const stores = createMemoryStores()
    const sandbox = defineSandbox({ id: 'requests', provider })
    const checkpoints = createCheckpoints({ stores, sandbox })
    await stores.threads.ensure({ ...thread, ownerId: 'local' })
    const { instances: store, locks } = stores
    const handle = await sandbox.ensure({ ...thread, runId: 'run-1', store, locks })
    const sh = (script: string): Promise<unknown> => handle.process.exec(script)
    /** One of them finds the sandbox. */
    const save = async (changedFiles: number): Promise<number> => {
      server.requests.clear()
      const { id } = await checkpoints.save(thread)
      const count = server.requests.count()
      expect((await checkpoints.get({ ...thread, checkpointId: id })).sizes).toMatchObject({
        files: FILES,
        changedFiles,
      })
      return count
    }

    await sh(`i=0; while [ $i -lt ${FILES} ]; do printf "content $i" > "file-$i"; i=$((i+1)); done`)
    // A list, a pack, the archive, and a second look at what was read.
    expect(await save(FILES)).toBeLessThanOrEqual(5)
    // A list; and hashes, where the time of a change proves nothing yet.
    expect(await save(0)).toBeLessThanOrEqual(3)
    await sh('for i in 1 2 3 4 5; do printf "changed $i" > "file-$i"; done')
    expect(await save(5)).toBeLessThanOrEqual(6)
    await sh('rm file-1 file-2; echo longer than before > file-3; echo new > file-2000; echo new > file-2001')
    expect(await save(5)).toBeLessThanOrEqual(6)
  })
})
