import { describe, expect, test } from 'vitest'
import { call, connect, openDaytona, openSandbox, rejection } from '../../fixtures/daytona-fixture.ts'

describe.each([{ useDeprecatedPolling: true }, { useDeprecatedPolling: false }])('with %o', (config) => {
  test('a sandbox goes from create to delete through every usual state', async () => {
    const { server } = await openDaytona()
    const daytona = connect(server, config)
    const sandbox = await daytona.create({ name: 'one', labels: { owner: 'me' }, envVars: { COLOUR: 'blue' } })
    expect(sandbox).toMatchObject({ state: 'started', name: 'one', autoStopInterval: 15, autoDeleteInterval: -1 })
    expect(sandbox.labels).toMatchObject({ owner: 'me', 'code-toolbox-language': 'python' })
    await sandbox.fs.uploadFile(Buffer.from('kept'), 'note.txt')
    await sandbox.stop()
    expect(sandbox.state).toBe('stopped')
    await sandbox.archive()
    expect(sandbox.state).toBe('archiving')
    await server.settled(sandbox.id)
    await sandbox.refreshData()
    expect(sandbox).toMatchObject({ state: 'archived', backupState: 'Completed' })
    await sandbox.start()
    expect(sandbox.state).toBe('started')
    expect(await sandbox.process.executeCommand('cat note.txt; echo $COLOUR')).toMatchObject({ result: 'keptblue\n' })
    await sandbox.delete(60, true)
    expect(sandbox.state).toBe('destroyed')
    expect(server.sandboxes()).toEqual([])
  })
})

test('the answer to a create is the sandbox as it began, held until it runs', async () => {
  const { server } = await openDaytona({ transitionMs: { creating: 150 } })
  const startedAt = performance.now()
  const dto = await (await call(server, 'POST', '/sandbox', { name: 'held' })).json()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(140)
  expect(dto).toMatchObject({
    state: 'creating',
    desiredState: 'started',
    env: {},
    toolboxProxyUrl: expect.any(String),
  })
  expect(server.sandboxes()[0]?.state).toBe('started')
})

test('a create is not held longer than the window', async () => {
  const { server } = await openDaytona({ createHoldMs: 30, transitionMs: { creating: 10_000 } })
  expect((await call(server, 'POST', '/sandbox', {})).status).toBe(200)
  expect(server.sandboxes()[0]?.state).toBe('creating')
})

test('a start that fails within the window is 400, and the errored sandbox stays behind', async () => {
  const { server, daytona } = await openDaytona()
  server.failNext('creating', { reason: 'no runner has room' })
  const error = await rejection(daytona.create({ name: 'bad' }))
  expect(error).toMatchObject({ statusCode: 400, message: 'Sandbox failed to start: no runner has room' })
  expect(server.sandboxes()).toMatchObject([{ name: 'bad', state: 'error' }])
})

test('a name that is taken is 409, in the same organization only', async () => {
  const { server, daytona } = await openDaytona()
  await daytona.create({ name: 'same' })
  expect(await rejection(daytona.create({ name: 'same' }))).toMatchObject({ name: 'DaytonaConflictError' })
  const other = server.addOrganization()
  await connect(server, { apiKey: other.apiKey }).create({ name: 'same' })
  expect(server.sandboxes()).toHaveLength(2)
})

test.each([
  ['an unknown snapshot', { snapshot: 'nope' }, /not found/],
  ['resources together with a snapshot', { snapshot: 'daytonaio/sandbox:0.218.0', cpu: 2 }, /resources/],
  ['a snapshot together with a build', { snapshot: 'x', buildInfo: { dockerfileContent: 'FROM x' } }, /both/],
  ['a network without a prefix length', { networkAllowList: '10.0.0.1' }, /prefix length/],
])('%s is 400', async (_what, body, message) => {
  const { server } = await openDaytona()
  const response = await call(server, 'POST', '/sandbox', body)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    statusCode: 400,
    error: 'Bad Request',
    message: expect.stringMatching(message),
  })
  expect(server.sandboxes()).toEqual([])
})

test('a create from an image answers pending_build, builds and starts; a failed build is build_failed', async () => {
  const { server, daytona } = await openDaytona()
  expect(
    await (await call(server, 'POST', '/sandbox', { buildInfo: { dockerfileContent: 'FROM x' } })).json(),
  ).toMatchObject({
    state: 'pending_build',
  })
  const sandbox = await daytona.create({ image: 'debian:12', resources: { cpu: 2 } })
  expect(sandbox).toMatchObject({ state: 'started', cpu: 2 })
  server.failNext('building_snapshot', { reason: 'no such image' })
  expect((await rejection(daytona.create({ image: 'nope', name: 'nope' }))).message).toMatch(
    /build_failed.*no such image/,
  )
  expect(await rejection((await daytona.get('nope')).start())).toMatchObject({ statusCode: 400 })
})

test('each lifecycle answer is a whole object that already shows the state on the way', async () => {
  const { server, sandbox } = await openSandbox()
  const path = `/sandbox/${sandbox.id}`
  const step = async (request: Promise<Response>): Promise<Record<string, unknown>> => {
    const dto = (await (await request).json()) as Record<string, unknown>
    expect(Object.keys(dto)).toEqual(
      expect.arrayContaining(['env', 'labels', 'target', 'cpu', 'disk', 'networkBlockAll']),
    )
    return dto
  }
  expect(await step(call(server, 'POST', `${path}/snapshot`, { name: 's' }))).toMatchObject({ state: 'snapshotting' })
  await server.settled(sandbox.id)
  expect(await step(call(server, 'POST', `${path}/resize`, { cpu: 2 }))).toMatchObject({ state: 'resizing' })
  await server.settled(sandbox.id)
  expect(await step(call(server, 'POST', `${path}/stop?force=false`))).toMatchObject({
    state: 'stopping',
    desiredState: 'stopped',
  })
  await server.settled(sandbox.id)
  expect(await step(call(server, 'POST', `${path}/archive`))).toMatchObject({
    state: 'archiving',
    backupState: 'InProgress',
  })
  await server.settled(sandbox.id)
  expect(await step(call(server, 'POST', `${path}/start`))).toMatchObject({
    state: 'restoring',
    desiredState: 'started',
  })
  await server.settled(sandbox.id)
  expect(await step(call(server, 'DELETE', path))).toMatchObject({ state: 'destroying', desiredState: 'destroyed' })
})

test('a request during a transition is 409 and changes nothing', async () => {
  const { server, sandbox } = await openSandbox({ transitionMs: { stopping: Number.POSITIVE_INFINITY } })
  await call(server, 'POST', `/sandbox/${sandbox.id}/stop`)
  for (const action of ['start', 'stop', 'archive', 'resize', 'snapshot']) {
    const body = action === 'snapshot' ? { name: 'x' } : {}
    const response = await call(server, 'POST', `/sandbox/${sandbox.id}/${action}`, body)
    expect([action, response.status]).toEqual([action, 409])
    expect(await response.json()).toMatchObject({ message: 'Sandbox state change in progress' })
  }
  expect((await call(server, 'DELETE', `/sandbox/${sandbox.id}`)).status).toBe(409)
  expect(server.sandboxes()).toMatchObject([{ state: 'stopping' }])
})

test('a request in the wrong state is 400; a start of a started one is a no-op', async () => {
  const { server, sandbox } = await openSandbox()
  const status = async (action: string): Promise<number> =>
    (await call(server, 'POST', `/sandbox/${sandbox.id}/${action}`)).status
  expect(await status('archive')).toBe(400)
  expect(await status('recover')).toBe(400)
  expect(await status('start')).toBe(200)
  expect(await status('pause')).toBe(422)
  await sandbox.stop()
  expect(await status('stop')).toBe(400)
})

test('a start while it is being archived is legal and brings the files back', async () => {
  const { server, sandbox } = await openSandbox({ transitionMs: { archiving: 10_000 } })
  await sandbox.fs.uploadFile(Buffer.from('x'), 'file')
  await sandbox.stop()
  await sandbox.archive()
  await sandbox.start()
  expect((await sandbox.process.executeCommand('cat file')).result).toBe('x')
  expect(server.sandboxes()).toMatchObject([{ state: 'started' }])
})

test('a delete frees the name at once: the id still shows destroying, the name nothing', async () => {
  const { server, daytona } = await openDaytona({ transitionMs: { destroying: 200 } })
  const name = 'again'
  const sandbox = await daytona.create({ name })
  await sandbox.delete()
  expect(sandbox.name).toMatch(new RegExp(`^DESTROYED_${name}_\\d+$`))
  expect((await daytona.get(sandbox.id)).state).toBe('destroying')
  expect(await rejection(daytona.get(name))).toMatchObject({ name: 'DaytonaNotFoundError' })
  await daytona.create({ name })
  await server.settled(sandbox.id)
  expect(await rejection(daytona.get(sandbox.id))).toMatchObject({ statusCode: 404 })
  expect(await rejection(sandbox.delete())).toMatchObject({ statusCode: 404 })
})

test('an ephemeral sandbox is destroyed by its stop and cannot be archived', async () => {
  const { server, daytona } = await openDaytona()
  const sandbox = await daytona.create({ ephemeral: true })
  await sandbox.stop()
  expect(sandbox.state).toBe('destroyed')
  expect(server.sandboxes()).toEqual([])
})

test('an errored sandbox recovers only when it can', async () => {
  const { server, daytona, sandbox } = await openSandbox()
  await server.forceState(sandbox.id, 'error', { reason: 'disk full', recoverable: false })
  expect(await daytona.get(sandbox.id)).toMatchObject({ state: 'error', errorReason: 'disk full', recoverable: false })
  expect(await rejection(sandbox.recover())).toMatchObject({ statusCode: 400 })
  expect(await rejection(sandbox.start())).toMatchObject({ statusCode: 400, message: 'Sandbox is in an errored state' })
  await server.forceState(sandbox.id, 'error', { recoverable: true })
  await sandbox.recover()
  expect((await sandbox.process.executeCommand('echo back')).result).toBe('back\n')
})

test('a state that nobody knows passes through as it is', async () => {
  const { server, daytona, sandbox } = await openSandbox()
  await server.forceState(sandbox.id, 'hibernating')
  expect((await daytona.get(sandbox.id)).state).toBe('hibernating')
})

test('a failed start is an error state with the reason, and the client says so', async () => {
  const { server, sandbox } = await openSandbox()
  await sandbox.stop()
  server.failNext('starting', { reason: 'image is gone', recoverable: true })
  expect((await rejection(sandbox.start())).message).toMatch(/error.*image is gone/)
  expect(sandbox.recoverable).toBe(true)
})

test('a stop ends sessions for good and keeps the files', async () => {
  const { sandbox } = await openSandbox()
  await sandbox.process.createSession('s')
  await sandbox.process.executeSessionCommand('s', { command: 'echo here > file' })
  await sandbox.stop()
  expect(await rejection(sandbox.process.executeCommand('true'))).toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('Is the Sandbox started?'),
  })
  await sandbox.start()
  expect(await rejection(sandbox.process.getSession('s'))).toMatchObject({ statusCode: 404 })
  expect((await sandbox.process.executeCommand('cat file')).result).toBe('here\n')
})

test('toolbox calls are 400 when archived and 404 when gone', async () => {
  const { server, sandbox } = await openSandbox()
  await server.forceState(sandbox.id, 'archived')
  expect(await rejection(sandbox.getWorkDir())).toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('runner'),
  })
  await server.forceState(sandbox.id, 'destroyed')
  expect(await rejection(sandbox.getWorkDir())).toMatchObject({ statusCode: 404 })
})

test('lists page by cursor, match labels and states, and leave out what only a read shows', async () => {
  const { server, daytona } = await openDaytona()
  const names = ['a', 'b', 'c']
  for (const name of names) await daytona.create({ name, labels: { group: name === 'c' ? 'x' : 'y' } })
  const all: string[] = []
  for await (const sandbox of daytona.list({ limit: 2, sort: 'name', order: 'asc' } as object)) all.push(sandbox.name)
  expect(all).toEqual(names)
  expect(server.requests.count({ route: 'GET /sandbox' })).toBe(2)
  const grouped: string[] = []
  for await (const sandbox of daytona.list({ labels: { group: 'x' } })) grouped.push(sandbox.name)
  expect(grouped).toEqual(['c'])
  await (await daytona.get('a')).stop()
  const page = (await (await call(server, 'GET', '/sandbox?states=stopped')).json()) as { items: object[] }
  expect(page.items).toMatchObject([{ name: 'a', state: 'stopped' }])
  expect(page.items[0]).not.toHaveProperty('env')
})

test('labels are replaced as a whole, intervals answer 201, network lists follow their rules', async () => {
  const { server, daytona, sandbox } = await openSandbox()
  expect(await sandbox.setLabels({ only: 'this' })).toEqual({ only: 'this' })
  expect((await daytona.get(sandbox.id)).labels).toEqual({ only: 'this' })
  expect((await call(server, 'POST', `/sandbox/${sandbox.id}/autostop/7`)).status).toBe(201)
  expect((await call(server, 'POST', `/sandbox/${sandbox.id}/last-activity`)).status).toBe(201)
  await sandbox.setAutoArchiveInterval(0)
  await sandbox.setAutoDeleteInterval(-1)
  expect(await daytona.get(sandbox.id)).toMatchObject({
    autoStopInterval: 7,
    autoArchiveInterval: 43_200,
    autoDeleteInterval: -1,
  })
  await sandbox.updateNetworkSettings({ networkAllowList: '10.0.0.0/8' })
  await sandbox.updateNetworkSettings({ networkBlockAll: true })
  expect(sandbox).toMatchObject({ networkBlockAll: true, networkAllowList: undefined })
  await sandbox.updateNetworkSettings({ domainAllowList: 'example.com' })
  expect(sandbox).toMatchObject({ networkBlockAll: false, domainAllowList: 'example.com' })
})

test('a VM can be paused, resumed and forked; its parent cannot go before its child', async () => {
  const { sandbox } = await openSandbox({ sandboxClass: 'linux-vm' })
  await sandbox.fs.uploadFile(Buffer.from('shared'), 'file')
  await sandbox.pause()
  expect(sandbox.state).toBe('paused')
  await sandbox.start()
  const child = await sandbox.fork({ name: 'child' })
  expect(child).toMatchObject({ state: 'started', name: 'child' })
  expect((await child.process.executeCommand('cat file')).result).toBe('shared')
  expect(await rejection(sandbox.delete())).toMatchObject({ statusCode: 400 })
  await child.delete(60, true)
  await sandbox.delete(60, true)
})

test('a resize of a started sandbox only grows cpu and memory, and a disk never shrinks', async () => {
  const { sandbox } = await openSandbox()
  await sandbox.resize({ cpu: 2, memory: 4 })
  expect(sandbox).toMatchObject({ cpu: 2, memory: 4, state: 'started' })
  expect(await rejection(sandbox.resize({ cpu: 1 }))).toMatchObject({ statusCode: 400 })
  expect(await rejection(sandbox.resize({ disk: 9 }))).toMatchObject({ statusCode: 400 })
  await sandbox.stop()
  await sandbox.resize({ disk: 9 })
  expect(await rejection(sandbox.resize({ disk: 8 }))).toMatchObject({ statusCode: 400 })
})

test('the client asks for the proxy address when answers lack it', async () => {
  const { server, daytona } = await openDaytona({ omitToolboxProxyUrl: true })
  const sandbox = await daytona.create()
  expect(server.requests.count({ route: 'GET /sandbox/:sandbox/toolbox-proxy-url' })).toBe(1)
  expect((await sandbox.process.executeCommand('echo ok')).result).toBe('ok\n')
})
