import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { createEmbeddedStores, createPostgresStores } from '../../src/index.ts'

/** A host of its own process: takes one job as JSON argument, tells what happens as JSON lines, ends when stdin does. */
const job = JSON.parse(process.argv[2] ?? '{}') as { kind: string; url: string; name: string; lockTtlMs?: number }

const lockTtl = job.lockTtlMs !== undefined && { lockTtlMs: job.lockTtlMs }
const stores = job.url.startsWith('file:')
  ? createEmbeddedStores({ dir: fileURLToPath(job.url), ...lockTtl })
  : createPostgresStores({ url: job.url, max: 2, ...lockTtl })
const tell = (event: object): void => void process.stdout.write(`${JSON.stringify({ name: job.name, ...event })}\n`)
let isOver = false
createInterface({ input: process.stdin }).on('close', () => {
  isOver = true
})

const jobs: Record<string, () => Promise<void>> = {
  /** Makes what is missing, and migrates, by its first call. */
  ping: async () => {
    await stores.ping()
    tell({ event: 'ready' })
  },

  /** Takes a lock again and again, and each time writes to a row that the fencing token protects. */
  lock: async () => {
    const sql = postgres(job.url, { max: 1, onnotice: () => {} })
    tell({ event: 'ready' })
    while (!isOver) {
      await stores.locks.withLock('shared', async (signal, lease) => {
        const token = lease?.token ?? 0
        tell({ event: 'held', token })
        await wait(5)
        // A process that was suspended runs its timers before it gets here.
        await wait(1)
        if (signal.aborted) {
          tell({ event: 'lost', token })
          return
        }
        const written = await sql`
          update guarded set token = ${token}, holder = ${job.name}, writes = writes + 1
          where token <= ${token} returning writes`
        tell({ event: written.length > 0 ? 'written' : 'refused', token, aborted: signal.aborted })
      })
    }
    await sql.end()
  },
}

await jobs[job.kind]?.()
await stores.close()
tell({ event: 'done' })
process.exit(0)
