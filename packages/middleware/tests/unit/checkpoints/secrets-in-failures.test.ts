import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores, SandboxHandle } from '@holdfast/core'
import { memoryProvider } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { createCheckpoints } from '../../../src/checkpoints/create-checkpoints.ts'
import type { Checkpoints } from '../../../src/checkpoints/checkpoints.ts'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import type { SandboxDefinition } from '../../../src/definition/sandbox-definition.ts'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'
import { SecretRedactor } from '../../../src/secrets/secret-redactor.ts'
import { withSandbox } from '../../../src/session/with-sandbox.ts'
import { sandboxTools } from '../../../src/tools/sandbox-tools.ts'
import { chatRequest, startChat } from '../../fixtures/chat-fixture.ts'
import { capturedLogs, LeakyWorld, shownError } from '../../fixtures/leaky-world.ts'

const SECRET = 'abcDEF123456-value/with+signs'
const redactor = new SecretRedactor([SECRET])
const thread = { threadId: 'thread-1' }
const policy = { exclude: [] }

interface World {
  leaky: LeakyWorld
  stores: HoldfastStores
  sandbox: SandboxDefinition
  checkpoints: Checkpoints
  first: string
  into: SandboxHandle
}

/** A thread with two checkpoints, and the secret wherever a run can bring it. */
async function makeWorld(): Promise<World> {
  const leaky = new LeakyWorld(SECRET)
  const stores = leaky.stores({ ...createMemoryStores() })
  const provider = leaky.sandboxes({ ...memoryProvider() })
  const workspace = defineWorkspace({ secrets: createSecrets({ TOKEN: SECRET }) })
  const sandbox = defineSandbox({ id: 'test', provider, workspace, policy: { default: 'allow' } })
  const checkpoints = createCheckpoints({ stores, sandbox, policy })
  const world = { leaky, stores, sandbox, checkpoints, first: '', into: await provider.create({ id: 'fresh' }) }
  await runOnce(world, 'run-1')
  await checkpoints.artifacts.save({ ...thread, name: 'notes.txt', body: `told ${SECRET}` })
  const first = (await checkpoints.list(thread)).checkpoints[0]?.id ?? ''
  await checkpoints.save(thread)
  return { ...world, first }
}

const WRITE = [
  'mkdir -p .git; printf "url = https://user:$TOKEN@host/repo" > .git/config',
  'printf "$TOKEN" > file; printf "$TOKEN" | base64 > encoded; printf x > "name-$(echo $TOKEN | head -c 12)"',
  'echo out $TOKEN; echo err $TOKEN >&2',
].join('; ')

/** A run knows the secrets once it has its sandbox's definition, which is after it has begun. */
async function runOnce({ stores, sandbox }: World, runId: string, begin: () => void = () => {}): Promise<void> {
  const { run, stream } = await startChat(
    { stores, clock: undefined as never },
    {
      turns: [[{ call: 'bash', args: { command: WRITE } }], [{ say: `It is ${SECRET}.` }]],
      request: chatRequest(runId, 'Work.'),
      tools: sandboxTools(),
      middleware: (current) => [withSandbox(sandbox, { run: current, checkpoints: { policy } })],
    },
  )
  begin()
  await run.drive(stream)
}

type Operation = (world: World, begin: () => void) => Promise<unknown>

const atOnce =
  (work: (world: World) => Promise<unknown>): Operation =>
  (world, begin) => {
    begin()
    return work(world)
  }

const OPERATIONS: { readonly [name: string]: Operation } = {
  'a save': atOnce(({ checkpoints }) => checkpoints.save({ ...thread, label: `label ${SECRET}` })),
  'an artifact': atOnce(({ checkpoints }) => checkpoints.artifacts.save({ ...thread, name: 'a.txt', body: SECRET })),
  'a restore': atOnce(({ checkpoints, into }) => checkpoints.restore({ ...thread, into })),
  'a rewind': atOnce(({ checkpoints, first }) => checkpoints.rewind({ ...thread, checkpointId: first })),
  'a fork': atOnce(({ checkpoints }) => checkpoints.fork({ ...thread, title: 'fork' })),
  'a run': (world, begin) => runOnce(world, 'run-2', begin),
}

/** Where the secret shows up when the call fails; none fails at 0. */
async function leaksOf(operation: Operation, failsAt = 0): Promise<string[]> {
  const logs = capturedLogs()
  const world = await makeWorld()
  const { leaky, stores } = world
  const failed = await operation(world, () => leaky.failAt(failsAt)).then(
    () => '',
    (error: unknown) => shownError(error),
  )
  const objects = (await stores.blobs.list()).objects
  const blobs = await Promise.all(objects.map(async ({ key }) => (await stores.blobs.get(key))?.text() ?? ''))
  const places = { 'an error': [failed], 'a log': logs, 'a row': leaky.rows, 'a blob': blobs }
  return Object.entries(places).flatMap(([place, texts]) =>
    texts.filter((text) => redactor.hasSecret(text)).map((text) => `${place}: ${text.slice(0, 3_000)}`),
  )
}

describe('a registered secret in files, git configuration, conversation, outputs and artifacts', () => {
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    it(`shows up nowhere in ${name}, whatever fails with it in its error`, { timeout: 120_000 }, async () => {
      expect(await leaksOf(operation)).toEqual([])
      const world = await makeWorld()
      await operation(world, () => world.leaky.failAt(0))
      const { calls } = world.leaky
      const firsts = [...new Set(calls)].map((call) => calls.indexOf(call) + 1)
      expect(firsts.length).toBeGreaterThan(3)
      for (const at of firsts) expect(await leaksOf(operation, at), `call ${at}: ${calls[at - 1]}`).toEqual([])
    })
  }
})
