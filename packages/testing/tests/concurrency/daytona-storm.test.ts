import type { Sandbox } from '@daytonaio/sdk'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import { expect, test } from 'vitest'
import { SeededRandom } from '../../src/daytona/seeded-random.ts'
import { call, connect } from '../fixtures/daytona-fixture.ts'

const WORKERS = 4
const OPERATIONS = 25

type Operation = (sandbox: Sandbox, label: string) => Promise<unknown>

const OPERATIONS_BY_WEIGHT: readonly Operation[] = [
  (sandbox, label) => sandbox.process.executeCommand(`echo ${label}; sleep 0.0${label.length % 10}`),
  (sandbox, label) => sandbox.fs.uploadFile(Buffer.alloc(20_000, label), `files/${label}`),
  (sandbox) => sandbox.fs.downloadFile('files/w0-1'),
  (sandbox) => sandbox.fs.listFiles('.'),
  async (sandbox, label) => {
    await sandbox.process.createSession(label)
    const { cmdId } = await sandbox.process.executeSessionCommand(label, {
      command: 'seq 1 200; sleep 0.05',
      runAsync: true,
    })
    await sandbox.process.getSessionCommandLogs(
      label,
      cmdId,
      () => undefined,
      () => undefined,
    )
    await sandbox.process.deleteSession(label)
  },
  async (sandbox, label) => {
    const handle = await sandbox.process.createPty({ id: label, onData: () => undefined })
    await handle.sendInput('exit 3\n')
    await handle.disconnect()
  },
  (sandbox) => sandbox.stop(5),
  (sandbox) => sandbox.start(5),
  (sandbox, label) => sandbox.createSnapshot(label, 5),
  (sandbox) => sandbox.archive(),
  (sandbox) => sandbox.refreshData(),
]

test.each([1, 2, 3])(
  'seed %i: whatever a client does under whatever faults, the server goes on and leaves nothing behind',
  async (seed) => {
    const server = await startDaytonaServer({ seed, logIdleMs: 30, logFrameBytes: 'random', sessionGraceMs: 200 })
    const daytona = connect(server, { requestTimeoutMs: 4_000 })
    const sandboxes = await Promise.all([daytona.create(), daytona.create()])
    server.configure({ randomFaults: { rate: 0.15 } })
    const failures: unknown[] = []
    const work = async (worker: number): Promise<void> => {
      const random = new SeededRandom(seed * 100 + worker)
      for (let index = 0; index < OPERATIONS; index += 1) {
        const operation = random.pick(OPERATIONS_BY_WEIGHT)
        const sandbox = random.pick(sandboxes)
        if (operation && sandbox)
          await operation(sandbox, `w${worker}-${index}`).catch((error: unknown) => failures.push(error))
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
    server.clearFaults()
    expect(failures.length).toBeGreaterThan(0)
    expect((await call(server, 'GET', '/sandbox')).status).toBe(200)
    const held = server.sandboxes()
    expect(held).toHaveLength(2)
    await server.close()
    for (const { homeDir } of held) expect(existsSync(dirname(homeDir))).toBe(false)
  },
  60_000,
)
