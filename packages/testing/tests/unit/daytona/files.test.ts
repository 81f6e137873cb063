import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { callToolbox, openSandbox, rejection, until } from '../../fixtures/daytona-fixture.ts'

const NAMES = [
  'with space',
  '-dash',
  'q"uote',
  "ap'os",
  'back\\slash',
  'emoji 🙂',
  '漢字',
  'é',
  'é',
  'semi;colon',
  '100%',
  '__proto__',
  'x'.repeat(255),
]

test.each(NAMES)('the name %s comes back as it was sent, with its bytes', async (name) => {
  const { sandbox, home } = await openSandbox()
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
  await sandbox.fs.uploadFile(bytes, `${home}/dir/${name}`)
  expect((await sandbox.fs.listFiles(`${home}/dir`)).map((file) => file.name)).toEqual([name])
  expect(await sandbox.fs.downloadFile(`${home}/dir/${name}`)).toEqual(bytes)
})

test('many files go up in one request and down in one, each with its own outcome', async () => {
  const { server, sandbox, home } = await openSandbox()
  const files = Array.from({ length: 100 }, (_, index) => ({
    source: Buffer.from(`${index}`),
    destination: `${home}/${index}`,
  }))
  await sandbox.fs.uploadFiles(files)
  await mkdir(join(home, 'folder'))
  const sources = [...files.map((file) => ({ source: file.destination })), { source: 'missing' }, { source: 'folder' }]
  const results = await sandbox.fs.downloadFiles(sources)
  expect(results.slice(0, 100).map((result) => String(result.result))).toEqual(files.map((_, index) => `${index}`))
  expect(results[100]).toMatchObject({ errorDetails: { statusCode: 404, errorCode: 'FILE_NOT_FOUND' } })
  expect(results[101]).toMatchObject({ errorDetails: { statusCode: 400, errorCode: 'INVALID_FILE_PATH' } })
  expect(server.requests.counts()).toMatchObject({ 'POST /files/bulk-upload': 1, 'POST /files/bulk-download': 1 })
})

test('an empty file is an empty buffer and a missing one a named error', async () => {
  const { sandbox } = await openSandbox()
  await sandbox.fs.uploadFile(Buffer.alloc(0), 'empty')
  expect(await sandbox.fs.downloadFile('empty')).toHaveLength(0)
  expect(await rejection(sandbox.fs.downloadFile('missing'))).toMatchObject({
    name: 'DaytonaFileNotFoundError',
    statusCode: 404,
  })
})

test('a large file streams both ways unharmed', async () => {
  const { sandbox } = await openSandbox()
  const bytes = Buffer.alloc(8 * 1024 * 1024, 'pattern-')
  await sandbox.fs.uploadFile(bytes, 'large')
  const hash = createHash('sha256')
  for await (const chunk of await sandbox.fs.downloadFileStream('large')) hash.update(chunk as Buffer)
  expect(hash.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'))
})

test('an upload trims the path, makes parents, goes through links and keeps the mode', async () => {
  const { sandbox, home } = await openSandbox()
  await sandbox.fs.uploadFile(Buffer.from('x'), '  deep/down/file \n')
  await writeFile(join(home, 'target'), 'a longer text than before', { mode: 0o755 })
  await symlink('target', join(home, 'link'))
  await sandbox.fs.uploadFile(Buffer.from('short'), 'link')
  expect(await readFile(join(home, 'deep/down/file'), 'utf8')).toBe('x')
  expect(await readFile(join(home, 'target'), 'utf8')).toBe('short')
  expect((await lstat(join(home, 'target'))).mode & 0o777).toBe(0o755)
  expect(await readlink(join(home, 'link'))).toBe('target')
})

test('an upload onto a directory is 400, and the other files of the request are written', async () => {
  const { sandbox, home } = await openSandbox()
  await mkdir(join(home, 'dir'))
  const files = [
    { source: Buffer.from('1'), destination: 'dir' },
    { source: Buffer.from('2'), destination: 'fine' },
  ]
  expect(await rejection(sandbox.fs.uploadFiles(files))).toMatchObject({ statusCode: 400 })
  expect(await readFile(join(home, 'fine'), 'utf8')).toBe('2')
})

test('an upload that is cut leaves a part in place of the old file', async () => {
  const { server, sandbox, home } = await openSandbox()
  await sandbox.fs.uploadFile(Buffer.alloc(5_000, 'o'), 'file')
  server.setFault({ on: 'POST /files/bulk-upload', effect: { kind: 'cut-upload', atByte: 1_000 } })
  expect(await rejection(sandbox.fs.uploadFile(Buffer.alloc(200_000, 'n'), 'file'))).toMatchObject({
    name: 'DaytonaConnectionError',
  })
  await until('the part', async () => (await readFile(join(home, 'file'), 'utf8')) === 'n'.repeat(1_000))
})

test('a client that dies in the middle of an upload leaves a part too', async () => {
  const { server, sandbox, home } = await openSandbox()
  const upload = request(`${sandbox.toolboxProxyUrl}/${sandbox.id}/files/bulk-upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'multipart/form-data; boundary=B' },
  })
  upload.on('error', () => undefined)
  upload.write('--B\r\nContent-Disposition: form-data; name="files[0].path"\r\n\r\npart\r\n')
  upload.write('--B\r\nContent-Disposition: form-data; name="files[0].file"; filename="part"\r\n\r\nhalf of it')
  await until('the first bytes', async () => (await readFile(join(home, 'part'), 'utf8').catch(() => '')) !== '')
  upload.destroy()
  expect('half of it'.startsWith(await readFile(join(home, 'part'), 'utf8'))).toBe(true)
})

test('a download that is cut is an error, not a short file', async () => {
  const { server, sandbox } = await openSandbox()
  await sandbox.fs.uploadFile(Buffer.alloc(50_000, 'x'), 'file')
  server.setFault({ on: 'POST /files/bulk-download', effect: { kind: 'cut-reply', atByte: 10_000 } })
  expect(await rejection(sandbox.fs.downloadFile('file'))).toBeInstanceOf(Error)
})

test('links show what they point at; a dangling one does not exist', async () => {
  const { sandbox, home } = await openSandbox()
  await mkdir(join(home, 'dir'))
  await symlink('dir', join(home, 'to-dir'))
  await symlink('nowhere', join(home, 'dangling'))
  const listed = await sandbox.fs.listFiles(home)
  expect(Object.fromEntries(listed.map((file) => [file.name, file.isDir]))).toEqual({ dir: true, 'to-dir': true })
  expect(await rejection(sandbox.fs.getFileDetails(`${home}/dangling`))).toMatchObject({ statusCode: 404 })
  expect(await rejection(sandbox.fs.deleteFile(`${home}/dangling`))).toMatchObject({ statusCode: 404 })
  expect(await rejection(sandbox.fs.deleteFile(`${home}/to-dir`))).toMatchObject({ statusCode: 400 })
  await sandbox.fs.deleteFile(`${home}/to-dir`, true)
  expect((await lstat(join(home, 'dir'))).isDirectory()).toBe(true)
})

test('details have the daemon’s forms', async () => {
  const { sandbox, home } = await openSandbox()
  await writeFile(join(home, 'run.sh'), 'abc', { mode: 0o750 })
  expect(await sandbox.fs.getFileDetails('run.sh')).toMatchObject({
    name: 'run.sh',
    size: 3,
    mode: '-rwxr-x---',
    permissions: '0750',
    isDir: false,
    owner: expect.stringMatching(/^\d+$/),
    modifiedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  })
})

test('a listing goes as deep as asked; a file is 400, a missing one 404', async () => {
  const { sandbox, home } = await openSandbox()
  await mkdir(join(home, 'a/b'), { recursive: true })
  await writeFile(join(home, 'a/b/c'), '')
  expect((await sandbox.fs.listFiles('.')).map((file) => file.name)).toEqual(['a'])
  expect((await sandbox.fs.listFiles('.', { depth: 3 })).map((file) => file.name)).toEqual(['a', 'b', 'c'])
  expect(await rejection(sandbox.fs.listFiles('a/b/c'))).toMatchObject({ statusCode: 400 })
  expect(await rejection(sandbox.fs.listFiles('z'))).toMatchObject({ name: 'DaytonaFileNotFoundError' })
})

test('folders, moves, deletes and permissions answer as documented', async () => {
  const { sandbox, home } = await openSandbox()
  await sandbox.fs.createFolder('x/y', '755')
  await sandbox.fs.createFolder('x/y', '755')
  await sandbox.fs.uploadFile(Buffer.from('1'), 'one')
  await sandbox.fs.uploadFile(Buffer.from('2'), 'two')
  expect(await rejection(sandbox.fs.createFolder('one', '755'))).toMatchObject({ statusCode: 400 })
  expect(await rejection(sandbox.fs.moveFiles('one', 'two'))).toMatchObject({ statusCode: 409 })
  expect(await rejection(sandbox.fs.moveFiles('none', 'three'))).toMatchObject({ statusCode: 404 })
  expect(await rejection(sandbox.fs.moveFiles('one', 'no/parent'))).toMatchObject({ statusCode: 404 })
  await sandbox.fs.moveFiles('one', 'x/one')
  expect(await rejection(sandbox.fs.deleteFile('x'))).toMatchObject({ statusCode: 400 })
  await sandbox.fs.setFilePermissions('two', { mode: '600' })
  expect((await lstat(join(home, 'two'))).mode & 0o777).toBe(0o600)
  expect(await rejection(sandbox.fs.setFilePermissions('two', { mode: '9' }))).toMatchObject({ statusCode: 400 })
  await sandbox.fs.deleteFile('x', true)
  expect(await rejection(sandbox.fs.getFileDetails('x'))).toMatchObject({ statusCode: 404 })
})

test('searching and replacing work on text as it is written', async () => {
  const { sandbox, home } = await openSandbox()
  await writeFile(join(home, 'a.txt'), 'one\n$& two\n')
  await writeFile(join(home, 'b.bin'), Buffer.from([0, 116, 119, 111]))
  expect(await sandbox.fs.findFiles(home, 'two')).toEqual([{ file: join(home, 'a.txt'), line: 2, content: '$& two' }])
  expect((await sandbox.fs.searchFiles(home, '*.txt')).files).toEqual([join(home, 'a.txt')])
  expect(await sandbox.fs.replaceInFiles([join(home, 'a.txt'), 'none'], 'one', '$&1')).toMatchObject([
    { success: true },
    { success: false },
  ])
  expect(await readFile(join(home, 'a.txt'), 'utf8')).toBe('$&1\n$& two\n')
})

describe('the answer to a missing file', () => {
  test('of the newest daemon has a code and a source', async () => {
    const { server, sandbox } = await openSandbox()
    const response = await callToolbox(server, sandbox, 'GET', '/files/info?path=none')
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: 'FILE_NOT_FOUND', source: 'DAYTONA_DAEMON', method: 'GET' })
  })

  test('of daemon 0.190 is a bare status', async () => {
    const { server, sandbox } = await openSandbox({ daemon: '0.190' })
    expect(await (await callToolbox(server, sandbox, 'GET', '/files/info?path=none')).text()).toBe('')
    expect(await rejection(sandbox.fs.getFileDetails('none'))).toMatchObject({
      name: 'DaytonaNotFoundError',
      message: 'Request failed with status code 404',
    })
  })
})

test('signed links need no key, hold for one path and end with the signing key', async () => {
  const { sandbox, home } = await openSandbox()
  const up = await sandbox.uploadUrl(`${home}/signed`)
  expect((await fetch(up, { method: 'POST', body: 'by link' })).status).toBe(200)
  const down = await sandbox.downloadUrl(`${home}/signed`)
  expect(await (await fetch(down)).text()).toBe('by link')
  expect((await fetch(down.replace('signed', 'other'))).status).toBe(401)
  await sandbox.rotateSigningKey()
  expect((await fetch(down)).status).toBe(401)
})
