import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores, SandboxProvider } from '@holdfast/core'
import { FakeClock, memoryProvider } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { createCheckpoints } from '../../../src/checkpoints/create-checkpoints.ts'
import type { Checkpoints } from '../../../src/checkpoints/checkpoints.ts'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import type { SandboxDefinition } from '../../../src/definition/sandbox-definition.ts'
import { settleOrphan } from '../../../src/runs/settle-orphan.ts'
import { withSandbox } from '../../../src/session/with-sandbox.ts'
import { chatRequest, startChat } from '../../fixtures/chat-fixture.ts'
import { Life } from '../../fixtures/mortal.ts'
import { message } from '../../fixtures/thread-fixture.ts'

const THREAD = 'thread-1'
const thread = { threadId: THREAD }

interface Host {
  stores: HoldfastStores
  provider: SandboxProvider
  sandbox: SandboxDefinition
  checkpoints: Checkpoints
  clock: FakeClock
}

/** Data and sandboxes that outlive every host. */
interface World {
  clock: FakeClock
  stores: HoldfastStores
  provider: SandboxProvider
  first: string
  second: string
}

function hostOf(world: Pick<World, 'clock' | 'stores' | 'provider'>, life = new Life()): Host {
  const { clock } = world
  const provider = life.of({ ...world.provider })
  const stores = life.of({ ...world.stores })
  const sandbox = defineSandbox({ id: 'test', provider })
  return { stores, provider, sandbox, clock, checkpoints: createCheckpoints({ stores, sandbox, clock }) }
}

const contextOf = ({ stores }: Host) => ({
  threadId: THREAD,
  runId: 'run-0',
  store: stores.instances,
  locks: stores.locks,
})

/** Two checkpoints: file and conversation say `one`, then `two`. */
async function makeWorld(): Promise<World> {
  const clock = new FakeClock()
  const world = { clock, stores: createMemoryStores({ clock }), provider: memoryProvider() }
  const host = hostOf(world)
  await host.stores.threads.ensure({ threadId: THREAD, ownerId: 'local' })
  const handle = await host.sandbox.ensure(contextOf(host))
  const ids: string[] = []
  for (const text of ['one', 'two']) {
    await host.stores.messages.saveThread(
      THREAD,
      ids.length === 0 ? [message('one')] : [message('one'), message('two')],
    )
    await handle.fs.write('/workspace/file', text)
    await host.checkpoints.artifacts.save({ ...thread, name: `${text}.txt`, body: text })
    ids.push((await host.checkpoints.save(thread)).id)
  }
  return { ...world, first: ids[0] ?? '', second: ids[1] ?? '' }
}

/** Another host gets a message once the dead host's lease has passed; it must see files and conversation that fit. */
async function nextRunWorks(world: World): Promise<string> {
  await world.clock.advance(31_000)
  const host = hostOf(world)
  const { run, stream } = await startChat(host, {
    turns: [[{ say: 'ok' }]],
    request: chatRequest('run-next', 'go on'),
    middleware: (current) => [withSandbox(host.sandbox, { run: current, checkpoints: {} })],
  })
  await run.drive(stream)
  const record = await world.stores.runs.get('run-next')
  expect(record).toMatchObject({ status: 'completed' })
  const handle = await host.sandbox.ensureExisting(contextOf(host))
  const file = await handle?.fs.read('/workspace/file')
  const head = await world.stores.checkpoints.get((await world.stores.checkpoints.getHead(THREAD)) ?? '')
  expect(head).toMatchObject({ sourceRunId: 'run-next' })
  const texts = head?.conversation.map(({ content }) => content)
  expect(texts).toEqual([...(file === 'one' ? ['one'] : ['one', 'two']), 'go on', 'ok'])
  expect(await world.stores.artifacts.listForThread(THREAD)).toHaveLength(file === 'one' ? 1 : 2)
  return file ?? ''
}

async function changesOf(operation: (host: Host, world: World) => Promise<unknown>): Promise<string[]> {
  const world = await makeWorld()
  const life = new Life()
  await operation(hostOf(world, life), world)
  return life.log
}

/** Dies between any two changes of the operation, and lets the next host go on. Before one is after the one before. */
async function dieEverywhere(
  operation: (host: Host, world: World) => Promise<unknown>,
  check: (world: World) => Promise<void>,
): Promise<number> {
  const changes = await changesOf(operation)
  for (let at = 1; at <= changes.length; at += 1) {
    for (const when of at === 1 ? (['before', 'after'] as const) : (['after'] as const)) {
      const world = await makeWorld()
      await expect(
        operation(hostOf(world, new Life({ at, when })), world),
        `${when} ${changes[at - 1]}`,
      ).rejects.toThrow()
      try {
        await check(world)
      } catch (error) {
        throw new Error(`A death ${when} change ${at} (${changes[at - 1]}) of ${changes.join(' ')}`, { cause: error })
      }
    }
  }
  return changes.length
}

describe('a host that dies at any point', () => {
  it('of a save leaves the old head or the new one, and the next run works', async () => {
    const save = async (host: Host): Promise<unknown> => {
      const handle = await host.sandbox.ensureExisting(contextOf(host))
      await handle?.fs.write('/workspace/other', 'three')
      return host.checkpoints.save(thread)
    }
    const changes = await dieEverywhere(save, async (world) => {
      const headId = (await world.stores.checkpoints.getHead(THREAD)) ?? ''
      const head = await world.stores.checkpoints.get(headId)
      expect(headId === world.second || head?.parentCheckpointId === world.second).toBe(true)
      expect(await nextRunWorks(world)).toBe('two')
    })
    expect(changes).toBeGreaterThan(10)
  }, 120_000)

  it('of a rewind leaves the thread as it was or rewound, files and conversation alike', async () => {
    const seen = new Set<string>()
    const changes = await dieEverywhere(
      ({ checkpoints }, { first }) => checkpoints.rewind({ ...thread, checkpointId: first }),
      async (world) => {
        seen.add(await nextRunWorks(world))
      },
    )
    expect(changes).toBeGreaterThan(15)
    expect([...seen].sort()).toEqual(['one', 'two'])
  }, 120_000)

  it('of a fork leaves the source alone, and the new thread empty or forked', async () => {
    const destinationThreadId = 'thread-2'
    await dieEverywhere(
      ({ checkpoints }) => checkpoints.fork({ ...thread, destinationThreadId }),
      async (world) => {
        expect(await world.stores.checkpoints.getHead(THREAD)).toBe(world.second)
        await world.clock.advance(31_000)
        const { checkpoints } = hostOf(world)
        const isForked = (await world.stores.checkpoints.getHead(destinationThreadId)) !== null
        const again = checkpoints.fork({ ...thread, destinationThreadId })
        if (isForked) await expect(again).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY' })
        else await again
        expect(await world.stores.messages.loadThread(destinationThreadId)).toHaveLength(2)
        expect(await world.stores.artifacts.listForThread(destinationThreadId)).toHaveLength(2)
      },
    )
  }, 120_000)

  it('of a restore leaves a sandbox that the next run brings to the head', async () => {
    const run = async (host: Host): Promise<unknown> => {
      const handle = await host.sandbox.ensureExisting(contextOf(host))
      await handle?.fs.write('/workspace/file', 'stale')
      await handle?.fs.write('/workspace/.holdfast/checkpoint.json', '{}')
      const { run: started, stream } = await startChat(host, {
        turns: [[{ say: 'ok' }]],
        request: chatRequest('run-dead', 'dead'),
        middleware: (current) => [withSandbox(host.sandbox, { run: current, checkpoints: { on: [] } })],
      })
      await started.drive(stream)
      if ((await host.stores.runs.get('run-dead'))?.status !== 'completed') throw new Error('dead')
      throw new Error('done')
    }
    const world = await makeWorld()
    const life = new Life()
    await expect(run(hostOf(world, life))).rejects.toThrow('done')
    const restores = life.log.flatMap((name, index) => (name === 'unpack' || name === 'exec' ? [index + 1] : []))
    expect(restores.length).toBeGreaterThan(2)
    for (const at of restores) {
      for (const when of ['before', 'after'] as const) {
        const doomed = await makeWorld()
        await expect(run(hostOf(doomed, new Life({ at, when })))).rejects.toThrow()
        await doomed.clock.advance(31_000)
        const host = hostOf(doomed)
        const { run: started, stream } = await startChat(host, {
          turns: [[{ say: 'ok' }]],
          request: chatRequest('run-next', 'go on'),
          middleware: (current) => [withSandbox(host.sandbox, { run: current, checkpoints: {} })],
        })
        await started.drive(stream)
        const handle = await host.sandbox.ensureExisting(contextOf(host))
        expect(await handle?.fs.read('/workspace/file'), `${when} ${at}`).toBe('two')
      }
    }
  }, 120_000)

  it('of the end of a run leaves its checkpoint, or a run that says why it has none', async () => {
    const run = async (host: Host): Promise<unknown> => {
      const { run: started, stream } = await startChat(host, {
        turns: [[{ say: 'ok' }]],
        request: chatRequest('run-dead', 'dead'),
        middleware: (current) => [withSandbox(host.sandbox, { run: current, checkpoints: {} })],
      })
      await started.drive(stream)
      throw new Error('done')
    }
    const life = new Life()
    await expect(run(hostOf(await makeWorld(), life))).rejects.toThrow('done')
    const seen = new Set<string>()
    for (let at = life.log.lastIndexOf('saveThread') + 1; at <= life.log.length; at += 1) {
      const world = await makeWorld()
      await expect(run(hostOf(world, new Life({ at, when: 'after' })))).rejects.toThrow()
      await world.clock.advance(31_000)
      await settleOrphan({ ...world, runId: 'run-dead' })
      expect(await world.stores.runs.get('run-dead')).toMatchObject({ status: 'completed' })
      const head = await world.stores.checkpoints.get((await world.stores.checkpoints.getHead(THREAD)) ?? '')
      const failure = await hostOf(world).checkpoints.findFailure({ ...thread, runId: 'run-dead' })
      const isSaved = head?.sourceRunId === 'run-dead'
      expect(isSaved ? null : 'HOST_LOST', `after ${at} ${life.log[at - 1]}`).toBe(failure?.code ?? null)
      seen.add(isSaved ? 'saved' : 'noted')
    }
    expect([...seen].sort()).toEqual(['noted', 'saved'])
  }, 120_000)
})

describe('a new head whose answer is lost', () => {
  const answerIsLost = <I, O>(call: (input: I) => Promise<O>) => {
    return async (input: I): Promise<O> => {
      await call(input)
      throw new Error('the answer is lost')
    }
  }

  it('of a rewind is followed by conversation and artifacts', async () => {
    const { stores, clock, provider, first } = await makeWorld()
    const { checkpoints } = stores
    checkpoints.append = answerIsLost(checkpoints.append.bind(checkpoints))
    const rewind = hostOf({ stores, clock, provider }).checkpoints.rewind({ ...thread, checkpointId: first })
    await expect(rewind).rejects.toThrow('the answer is lost')
    expect(await stores.messages.loadThread(THREAD)).toHaveLength(1)
    expect(await stores.artifacts.listForThread(THREAD)).toHaveLength(1)
  })

  it('of a fork is followed by artifacts', async () => {
    const { stores, clock, provider } = await makeWorld()
    const { checkpoints } = stores
    const { forkFromCheckpoint } = checkpoints
    if (forkFromCheckpoint === undefined) throw new Error('no fork')
    checkpoints.forkFromCheckpoint = answerIsLost(forkFromCheckpoint.bind(checkpoints))
    const destinationThreadId = 'thread-2'
    const fork = hostOf({ stores, clock, provider }).checkpoints.fork({ ...thread, destinationThreadId })
    await expect(fork).rejects.toThrow('the answer is lost')
    expect(await stores.artifacts.listForThread(destinationThreadId)).toHaveLength(2)
  })
})
