import { startPostgres } from '@holdfast/testing'
import postgres from 'postgres'
import { createPostgresStores } from '../src/index.ts'
import { benchCheckpoints } from './checkpoint-bench.ts'
import { benchClaims, benchHandOver } from './coordination-bench.ts'
import { benchAppends, benchTailing } from './event-log-bench.ts'
import { report } from './measure.ts'

/** What PostgreSQL comes with: a commit waits for the disk, as on a server that somebody runs. */
const AS_IT_COMES = { fsync: true, full_page_writes: true, shared_buffers: '128MB' }

/** Everything as a ratio against plain SQL through the same driver on the same server, in one run. */
export async function benchStore(): Promise<void> {
  const server = await startPostgres({ settings: AS_IT_COMES })
  const stores = createPostgresStores({ url: server.url })
  const other = createPostgresStores({ url: server.url })
  const sql = postgres(server.url, { max: 10, onnotice: () => {} })
  await stores.ping()
  const measurements = [
    ...(await benchAppends(stores, sql)),
    ...(await benchTailing(stores, other, sql)),
    await benchClaims(stores, sql),
    await benchHandOver([stores, other], sql),
    ...(await benchCheckpoints(stores, sql)),
  ]
  await Promise.all([stores.close(), other.close()])
  await sql.end()
  await server.stop()
  process.exitCode = report(measurements) ? 0 : 1
}
