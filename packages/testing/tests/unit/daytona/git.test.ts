import { expect, test } from 'vitest'
import { openSandbox, rejection } from '../../fixtures/daytona-fixture.ts'

test('clone, status, add, commit, branches and checkout work on real repositories', async () => {
  const { sandbox, home } = await openSandbox()
  const setUp =
    'git init -q -b main origin && cd origin && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first'
  expect(await sandbox.process.executeCommand(setUp)).toMatchObject({ exitCode: 0 })
  await sandbox.git.clone(`${home}/origin`, 'copy')
  await sandbox.fs.uploadFile(Buffer.from('x'), 'copy/new file')
  expect(await sandbox.git.status('copy')).toMatchObject({
    currentBranch: 'main',
    fileStatus: [{ staging: 'Untracked' }],
  })
  await sandbox.git.add('copy', ['new file'])
  const { sha } = await sandbox.git.commit('copy', 'second', 'Me', 'me@example.com')
  expect(sha).toMatch(/^[0-9a-f]{40}$/)
  await sandbox.git.createBranch('copy', 'side')
  await sandbox.git.checkoutBranch('copy', 'side')
  expect((await sandbox.git.branches('copy')).branches.toSorted((a, b) => a.localeCompare(b))).toEqual(['main', 'side'])
})

test('a failure is 400 with what git said', async () => {
  const { sandbox } = await openSandbox()
  expect(await rejection(sandbox.git.status('nowhere'))).toMatchObject({ statusCode: 400 })
  expect((await rejection(sandbox.git.clone('/no/such/repository', 'copy'))).message).toContain('does not')
})
