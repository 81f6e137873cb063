import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { processProvider } from '../../../src/index.ts'

describe('processProvider', () => {
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'process-provider-test-'))
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  it('another provider on the same directory resumes, lists and destroys the sandbox with its processes', async () => {
    const first = await processProvider({ dir }).create({ id: 'key/1', labels: { app: 'a' } })
    await first.fs.write('kept.txt', 'here')
    await first.process.exec('setsid sleep 300 >/dev/null 2>&1 & echo $! > sleeper')
    const pid = Number(await first.fs.read('sleeper'))

    const successor = processProvider({ dir })
    const resumed = await successor.resume({ id: 'key/1' })
    expect(await resumed?.fs.read('/workspace/kept.txt')).toBe('here')
    expect(await successor.list?.({ labels: { app: 'a' } })).toMatchObject([{ sandboxId: 'key/1', state: 'running' }])
    expect(await successor.list?.({ labels: { app: 'b' } })).toEqual([])

    expect(() => process.kill(pid, 0)).not.toThrow()
    await successor.destroy({ id: 'key/1' })
    expect(await isRunning(pid)).toBe(false)
    expect(await successor.resume({ id: 'key/1' })).toBeNull()
    expect(await readdir(dir)).toEqual([])
  })

  it('the environment of the host does not reach a command', async () => {
    process.env['DATABASE_URL'] = 'postgres://secret'
    try {
      const sandbox = await processProvider({ dir }).create({ env: { GIVEN: 'yes' } })
      const { stdout } = await sandbox.process.exec('env')
      expect(stdout).not.toContain('secret')
      expect(stdout).toContain('GIVEN=yes')
      await sandbox.destroy()
    } finally {
      delete process.env['DATABASE_URL']
    }
  })

  it('a command longer than an argument may be still runs', async () => {
    const sandbox = await processProvider({ dir }).create({})
    const text = 'x'.repeat(300_000)
    const result = await sandbox.process.exec(`cat > big <<'EOF'\n${text}\nEOF\nwc -c < big; exit 7`)
    expect(result).toMatchObject({ exitCode: 7, stderr: '' })
    expect(result.stdout.trim()).toBe('300001')
    await sandbox.destroy()
  })

  it('a terminal runs a command and gives its exit code', async () => {
    const sandbox = await processProvider({ dir }).create({})
    const terminal = await sandbox.terminal?.open({
      command: 'stty size; read x; echo "got $x"; exit 3',
      cols: 100,
      rows: 30,
    })
    await terminal?.write('hé\n')
    const chunks: Uint8Array[] = []
    for await (const chunk of terminal?.output ?? []) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    expect(text).toContain('30 100')
    expect(text).toContain('got hé')
    expect(await terminal?.exited).toBe(3)
    await sandbox.destroy()
  })
})

/** Whether the process runs; one that ended and waits for its parent does not. */
async function isRunning(pid: number): Promise<boolean> {
  const { readFile } = await import('node:fs/promises')
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return false
  }
}
