import { execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { execFileTransfer, posixArchive, readArchive, writeArchive } from '../../../src/provider-kit/index.ts'
import type { ArchiveEntry, PosixArchiveHost } from '../../../src/provider-kit/index.ts'

const base = fs.mkdtempSync(join(tmpdir(), 'holdfast-archive-'))
afterAll(() => {
  execFileSync('chmod', ['-R', 'u+rwx', base])
  fs.rmSync(base, { recursive: true, force: true })
})

/** A PATH with nothing but BusyBox's own tools, or undefined where there is no BusyBox. */
function busyBoxPath(): string | undefined {
  const dir = join(base, 'busybox-bin')
  fs.mkdirSync(dir)
  try {
    execFileSync('busybox', ['--install', '-s', dir], { stdio: 'ignore' })
    return dir
  } catch {
    console.warn('skipped: posixArchive with BusyBox, because there is no busybox on this machine')
    return undefined
  }
}

interface Box {
  host: PosixArchiveHost
  root: string
  temporaryRoot: string
}

function openBox(path: string): Box {
  const root = fs.mkdtempSync(join(base, 'root-'))
  const temporaryRoot = fs.mkdtempSync(join(base, 'tmp-'))
  const exec: PosixArchiveHost['exec'] = (command, { stdin, signal }) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const child = spawn(join(path === process.env['PATH'] ? '/bin' : path, 'sh'), ['-c', command], {
        env: { PATH: path },
      })
      const texts = { stdout: '', stderr: '' }
      child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text))
      child.on('error', reject)
      child.on('close', (code) => resolve({ ...texts, exitCode: code ?? 137 }))
      child.stdin.on('error', () => child.stdin.destroy())
      child.stdin.end(stdin)
    })
  return { host: { workspaceRoot: root, temporaryRoot, exec, ...execFileTransfer(exec) }, root, temporaryRoot }
}

function file(path: string, text: string, mode = 0o644): ArchiveEntry {
  const bytes = new TextEncoder().encode(text)
  return { path, kind: 'file', size: bytes.length, mode, body: new Blob([bytes]).stream() }
}

async function readAll(archive: ReadableStream<Uint8Array>): Promise<Map<string, unknown>> {
  const all = new Map<string, unknown>()
  for await (const entry of readArchive(archive)) {
    const { path, ...rest } = entry
    if (entry.kind === 'file') all.set(path, `${entry.mode.toString(8)} ${await new Response(entry.body).text()}`)
    else all.set(path, rest)
  }
  return all
}

const LONG_NAME = 'n'.repeat(255)
const LONG_PATH = `${'d'.repeat(90)}/${'ü'.repeat(80)}/${'e'.repeat(90)}/f`
const NAMES = [
  'a',
  '-rf',
  '--help',
  '@x',
  ' lead',
  'trail ',
  `q'"\`$(id)`,
  'b\\n',
  'tab\t',
  'line\nbreak',
  'é',
  'e\u0301',
  '😀',
  '*',
  LONG_NAME,
  LONG_PATH,
]

const paths: [string, string | undefined][] = [
  ['GNU tools', process.env['PATH']],
  ['BusyBox', busyBoxPath()],
]

describe.each(paths.filter((pair): pair is [string, string] => pair[1] !== undefined))('with %s', (_name, path) => {
  test('what was unpacked is packed again with the same names, bytes, modes and targets', async () => {
    const { host, root, temporaryRoot } = openBox(path)
    const archive = posixArchive(host)
    const links: ArchiveEntry[] = [
      { path: 'dangling', kind: 'symlink', target: '/no/where' },
      { path: 'long', kind: 'symlink', target: `x/${'t'.repeat(300)}` },
    ]
    const entries = [
      ...NAMES.map((name) => file(name, name, 0o750)),
      ...links,
      { path: 'closed', kind: 'dir', mode: 0o555 } as const,
      file('closed/in', 'x', 0o444),
    ]
    await archive.unpack(writeArchive(entries))
    expect(fs.readFileSync(join(root, LONG_PATH), 'utf8')).toBe(LONG_PATH)
    expect(fs.statSync(join(root, 'closed')).mode & 0o777).toBe(0o555)
    const read = await readAll(await archive.pack([...NAMES, 'dangling', 'long', 'closed', 'vanished', 'closed/in']))
    const expected = new Map<string, unknown>(NAMES.map((name) => [name, `750 ${name}`]))
    expected.set('dangling', { kind: 'symlink', target: '/no/where' })
    expected.set('long', { kind: 'symlink', target: `x/${'t'.repeat(300)}` })
    expected.set('closed', { kind: 'dir', mode: 0o555 })
    expected.set('closed/in', '444 x')
    expect(Object.fromEntries(read)).toEqual(Object.fromEntries(expected))
    expect(fs.readdirSync(temporaryRoot)).toEqual([])
  })

  test('a deep tree is looked at once an entry, and takes no command more than a flat one', async () => {
    const { host, root } = openBox(path)
    const looks: string[] = []
    let commands = 0
    const counting: PosixArchiveHost = {
      ...host,
      exec(command, options) {
        commands += 1
        if (command.includes('xargs')) looks.push(...new TextDecoder().decode(options.stdin).split('\0').slice(0, -1))
        return host.exec(command, options)
      },
    }
    const dirs = Array.from({ length: 300 }, (_, depth) => Array.from({ length: depth + 1 }, () => 'd').join('/'))
    const entries: ArchiveEntry[] = dirs.map((dir) => ({ path: dir, kind: 'dir', mode: 0o750 }))
    const deepest = `${dirs.at(-1)}/f`
    await posixArchive(counting).unpack(writeArchive([...entries, file(deepest, 'x')]))
    expect(looks).toEqual([...dirs.map((dir) => `d:${dir}`), `f:${deepest}`])
    expect(commands).toBe(3)
    expect(fs.readFileSync(join(root, deepest), 'utf8')).toBe('x')
  })

  test('a directory is packed without what it holds, and nothing asked gives an empty archive', async () => {
    const { host, root } = openBox(path)
    fs.mkdirSync(join(root, 'd'))
    fs.writeFileSync(join(root, 'd/f'), 'x')
    expect([...(await readAll(await posixArchive(host).pack(['d']))).keys()]).toEqual(['d'])
    expect((await readAll(await posixArchive(host).pack([]))).size).toBe(0)
  })

  test('nothing is written through a link, and files and directories replace each other', async () => {
    const { host, root } = openBox(path)
    const outside = fs.mkdtempSync(join(base, 'outside-'))
    fs.writeFileSync(join(outside, 'kept'), 'kept')
    fs.writeFileSync(join(outside, 'beside'), 'safe')
    fs.symlinkSync(outside, join(root, 'link'))
    fs.symlinkSync(join(outside, 'kept'), join(root, 'file-link'))
    fs.mkdirSync(join(root, 'was-dir/sub'), { recursive: true })
    fs.writeFileSync(join(root, 'was-file'), 'x')
    const entries = [
      file('link/kept', 'evil'),
      // Seen through the link, its directory is a file that stands in the way.
      file('link/beside/deep', 'evil'),
      file('file-link', 'evil'),
      file('was-dir', 'now file'),
      file('was-file/in', 'now dir'),
    ]
    await posixArchive(host).unpack(writeArchive(entries))
    expect(fs.readFileSync(join(outside, 'kept'), 'utf8')).toBe('kept')
    expect(fs.readdirSync(outside).sort()).toEqual(['beside', 'kept'])
    expect(fs.readFileSync(join(outside, 'beside'), 'utf8')).toBe('safe')
    expect(fs.readFileSync(join(root, 'link/kept'), 'utf8')).toBe('evil')
    expect(fs.readFileSync(join(root, 'was-dir'), 'utf8')).toBe('now file')
    expect(fs.readFileSync(join(root, 'was-file/in'), 'utf8')).toBe('now dir')
  })

  test.each<[string, ArchiveEntry[]]>([
    ['leads out', [file('ok', 'x'), file('../out', 'x')]],
    ['is absolute', [file('ok', 'x'), file('/tmp/out', 'x')]],
    [
      'goes through a link of the archive',
      [file('ok', 'x'), { path: 'l', kind: 'symlink', target: '/tmp' }, file('l/out', 'x')],
    ],
    ['stands twice', [file('ok', 'x'), file('ok', 'y')]],
  ])('an archive with an entry that %s unpacks nothing', async (_what, entries) => {
    const { host, root, temporaryRoot } = openBox(path)
    await expect(posixArchive(host).unpack(writeArchive(entries))).rejects.toMatchObject({ code: 'INVALID_PATH' })
    expect(fs.readdirSync(root)).toEqual([])
    expect(fs.readdirSync(temporaryRoot)).toEqual([])
  })

  test('set-user bits are not restored, and a truncated archive unpacks nothing', async () => {
    const { host, root } = openBox(path)
    await posixArchive(host).unpack(writeArchive([file('s', 'x', 0o4755)]))
    expect(fs.statSync(join(root, 's')).mode & 0o7777).toBe(0o755)
    const whole = await new Response(writeArchive([file('t', 'y')])).arrayBuffer()
    const cut = new Blob([whole.slice(0, 1_000)]).stream()
    await expect(posixArchive(host).unpack(cut)).rejects.toMatchObject({ code: 'CORRUPT_DATA' })
    expect(fs.existsSync(join(root, 't'))).toBe(false)
  })

  test('more names than one command line holds are packed', async () => {
    const { host, root } = openBox(path)
    const names = [...Array(1_203).keys()].map((index) => `${index}-${'x'.repeat(100)}`)
    for (const name of names) fs.writeFileSync(join(root, name), name)
    const read = await readAll(await posixArchive(host).pack(names))
    expect([...read.keys()]).toEqual(names)
  })

  test('pieces larger than one command carry arrive whole', async () => {
    const { host, root } = openBox(path)
    const big = 'x'.repeat(3_500_000)
    await posixArchive(host).unpack(writeArchive([file('big', big)]))
    expect(fs.statSync(join(root, 'big')).size).toBe(big.length)
    expect((await readAll(await posixArchive(host).pack(['big']))).get('big')).toBe(`644 ${big}`)
  })
})
