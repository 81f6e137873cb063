import { memoryProvider } from '@holdfast/testing'
import { expect, it } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import { startFileEvents } from '../../../src/files/start-file-events.ts'
import { bindSandboxTools } from '../../../src/tools/bind-sandbox-tools.ts'
import { sandboxTools } from '../../../src/tools/sandbox-tools.ts'
import { sandboxFixture } from '../../fixtures/sandbox-fixture.ts'

it('an interpreted shell with few options is enough for setup, file events and search', async () => {
  const { context } = await sandboxFixture()
  const provider = memoryProvider()
  const workspace = defineWorkspace({
    setup: (b) => b.serial('mkdir sub && cd sub').parallel(['echo 1 > a', 'echo 2 > b']),
  })
  const handle = await defineSandbox({ id: 'app', provider, workspace }).ensure(context)
  expect(await handle.fs.read('sub/b')).toBe('2\n')
  const events: string[] = []
  const files = await startFileEvents({
    handle,
    root: '/workspace',
    diff: true,
    emit: ({ type, path }) => void events.push(`${type} ${path}`),
    emitDiff: ({ diff }) => void events.push(diff.split('\n').at(-2) ?? ''),
  })
  await handle.fs.write('new.txt', 'needle\n')
  await handle.fs.write('sub/a', '3\n')
  await handle.fs.remove('sub/b')
  await files.drain()
  await files.stop()
  expect(events.slice(0, 3)).toEqual([
    'create /workspace/new.txt',
    'change /workspace/sub/a',
    'delete /workspace/sub/b',
  ])
  expect(events.slice(3, 5)).toEqual(['+needle', '+3'])
  const [search] = bindSandboxTools(sandboxTools({ include: ['search_files'] }), {
    handle: () => handle,
    emit: () => undefined,
  })
  expect(await search?.execute?.({ pattern: 'need.e' }, undefined as never)).toEqual({
    matches: 'new.txt:1:needle',
    count: 1,
  })
})
