import { expect, test } from 'vitest'
import { openDaytona, openSandbox, rejection, until } from '../../fixtures/daytona-fixture.ts'

test('a snapshot of a started sandbox holds its files, and a sandbox can begin from it', async () => {
  const { daytona, sandbox } = await openSandbox()
  await sandbox.process.executeCommand('mkdir -p d; echo v1 > d/f; chmod 750 d/f; ln -s f d/l')
  await sandbox.createSnapshot('mine')
  await until('the snapshot', () =>
    daytona.snapshot.get('mine').then(
      () => true,
      () => false,
    ),
  )
  expect(await daytona.snapshot.get('mine')).toMatchObject({
    state: 'active',
    sourceSandboxId: sandbox.id,
    general: false,
  })
  await sandbox.process.executeCommand('echo v2 > d/f')
  const copy = await daytona.create({ snapshot: 'mine' })
  expect((await copy.process.executeCommand('cat d/f; readlink d/l; stat -c %a d/f')).result).toBe('v1\nf\n750\n')
})

test('its row shows a moment after the sandbox looks ready', async () => {
  const { daytona, sandbox } = await openSandbox({ snapshotRowDelayMs: 300 })
  await sandbox.createSnapshot('late')
  expect(sandbox.state).toBe('started')
  expect(await rejection(daytona.snapshot.get('late'))).toMatchObject({ statusCode: 404 })
  await until('the row', () =>
    daytona.snapshot.get('late').then(
      () => true,
      () => false,
    ),
  )
})

test.each(['a planned failure', 'the knob', 'a name that is taken'])('%s makes it fail without a word', async (how) => {
  const { server, daytona, sandbox } = await openSandbox({
    snapshotRowDelayMs: 0,
    snapshotsFailSilently: how === 'the knob',
  })
  if (how === 'a planned failure') server.failNext('snapshotting', { reason: 'registry is full' })
  if (how === 'a name that is taken') {
    await (await daytona.create()).createSnapshot('s')
    await until('the first', () => server.snapshots().length === 1)
  }
  const before = server.snapshots()
  await sandbox.createSnapshot('s')
  expect(sandbox.state).toBe('started')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(server.snapshots()).toEqual(before)
})

test('a stopped sandbox can be captured too, and returns to stopped', async () => {
  const { server, sandbox } = await openSandbox()
  await sandbox.stop()
  await sandbox.createSnapshot('cold')
  expect(sandbox.state).toBe('stopped')
  await until('the row', () => server.snapshots().length === 1)
})

test('snapshots are built from images, deleted by name, and refused when inactive', async () => {
  const { server, daytona } = await openDaytona()
  expect(await daytona.snapshot.create({ name: 'img', image: 'debian:12' })).toMatchObject({
    state: 'active',
    imageName: 'debian:12',
  })
  expect(await rejection(daytona.snapshot.create({ name: 'img', image: 'x' }))).toMatchObject({ statusCode: 409 })
  expect(await rejection(daytona.snapshot.create({ name: 'a b', image: 'x' }))).toMatchObject({ statusCode: 400 })
  server.setSnapshotState('img', 'inactive')
  expect(await rejection(daytona.create({ snapshot: 'img' }))).toMatchObject({
    statusCode: 400,
    message: 'Snapshot img is inactive',
  })
  expect((await daytona.snapshot.activate('img')).state).toBe('active')
  expect(await rejection(daytona.snapshot.activate('img'))).toMatchObject({ statusCode: 400 })
  await daytona.snapshot.delete('img')
  expect(await rejection(daytona.snapshot.get('img'))).toMatchObject({ statusCode: 404 })
  expect(await rejection(daytona.snapshot.delete('daytonaio/sandbox:0.218.0'))).toMatchObject({ statusCode: 403 })
})

test('a failed build says why', async () => {
  const { server, daytona } = await openDaytona()
  server.failNext('building_snapshot', { reason: 'no such image' })
  expect((await rejection(daytona.snapshot.create({ name: 'bad', image: 'x' }))).message).toContain('no such image')
})

test('lists page and filter by source', async () => {
  const { server, daytona, sandbox } = await openSandbox()
  await sandbox.createSnapshot('a')
  await until('the row', () => server.snapshots().length === 1)
  expect(await daytona.snapshot.list({ sourceSandboxId: sandbox.id })).toMatchObject({
    total: 1,
    items: [{ name: 'a' }],
  })
  expect(await daytona.snapshot.list(1, 1)).toMatchObject({ total: 2, totalPages: 2 })
})

test('volumes exist by name', async () => {
  const { daytona } = await openDaytona()
  const volume = await daytona.volume.get('data', true)
  expect(volume).toMatchObject({ name: 'data', state: 'ready' })
  expect(await daytona.volume.list()).toHaveLength(1)
  await daytona.volume.delete(volume)
  expect(await rejection(daytona.volume.get('data'))).toMatchObject({ statusCode: 404 })
})
