// Two replicas on one PostgreSQL: what one drives, the other sees and stops. Then the store's own command looks at it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createChatRoutes, defineSandbox, reapRuns, sandboxTools, sweepSandboxes } from '@holdfast/middleware'
import { createPostgresStores } from '@holdfast/store-drizzle'
import { processProvider, startPostgres } from '@holdfast/testing'
import { chatBody, chunks, get, post } from './chat-client.ts'
import { scriptedModel } from './scripted-model.ts'

const database = await startPostgres()
const { url } = await database.createDatabase()
const store = (command: string): Record<string, number> => {
  const bin = join(import.meta.dirname, 'node_modules', '.bin', 'holdfast-store')
  return JSON.parse(
    execFileSync(bin, [command, '--json'], {
      cwd: tmpdir(),
      env: { ...process.env, DATABASE_URL: url },
      encoding: 'utf8',
    }),
  ) as Record<string, number>
}
assert.ok((store('migrate')['version'] ?? 0) > 0, 'the migrations come with the package')

const provider = processProvider()
const sandbox = defineSandbox({ id: 'coder', provider, policy: { default: 'allow' } })
const replicas = [1, 2].map(() => {
  const stores = createPostgresStores({ url, migrate: false })
  const routes = createChatRoutes({ stores, sandbox, model: () => scriptedModel('sleep 300'), tools: sandboxTools() })
  return { stores, routes }
})
const [first, second] = replicas
assert.ok(first && second)

const sent = await post(first.routes, '/api/chat', chatBody('thread-1', 'run-1', 'Wait'))
const seen: string[] = []
for await (const { type } of chunks(sent)) {
  seen.push(type)
  if (type !== 'TOOL_CALL_END') continue
  const { runs } = (await (await get(second.routes, '/api/runs?status=running')).json()) as {
    runs: { runId: string }[]
  }
  assert.deepEqual(
    runs.map(({ runId }) => runId),
    ['run-1'],
  )
  const stopped = await post(second.routes, '/api/runs/run-1/cancel', {})
  assert.equal(stopped.status, 202)
}
assert.equal(seen.at(-1), 'RUN_ERROR', `Stop on another replica ends the run: ${seen.join(', ')}`)
// The record follows the last event.
let record = await second.stores.runs.get('run-1')
for (let tries = 0; record?.status === 'running' && tries < 100; tries += 1) {
  await pause(50)
  record = await second.stores.runs.get('run-1')
}
assert.equal(record?.status, 'aborted')

await reapRuns({ stores: second.stores, sandbox, detachedTtlMs: 3_600_000 })
await sweepSandboxes({ stores: second.stores, sandbox, minAgeMs: 600_000 })
const counts = store('status')
assert.ok(Object.keys(counts).length > 3, JSON.stringify(counts))
for (const { stores } of replicas) await stores.close()
await provider.close?.()
await database.stop()
