import { createMemoryStores, isHoldfastError, MemoryBlobStore } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'
import { ByteRedactionStream } from '../../../src/secrets/byte-redaction-stream.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import { secretEncodings } from '../../../src/secrets/secret-encodings.ts'
import { SecretRedactor } from '../../../src/secrets/secret-redactor.ts'
import { message, threadFixture } from '../../fixtures/thread-fixture.ts'
import { capture, processSandbox, sh } from '../../fixtures/workspace-fixture.ts'

const SECRET = `s3cr3t/'"$&%é +value-42`
const FORMS = [...secretEncodings(SECRET)]

/** Everything that the stores hold, as text. */
async function dumpOf(stores: HoldfastStores): Promise<string> {
  const blobs = await Promise.all(
    (await stores.blobs.list()).objects.map(async ({ key }) => (await stores.blobs.get(key))?.text()),
  )
  const rows = [await stores.checkpoints.list('thread-1'), await stores.artifacts.listForThread('thread-1'), blobs]
  return JSON.stringify(rows)
}

function leaksIn(text: string): string[] {
  return FORMS.filter((form) => text.includes(form) || text.includes(JSON.stringify(form).slice(1, -1)))
}

describe('bytes in pieces', () => {
  it('are redacted wherever a secret is cut, in every form', () => {
    const redactor = new SecretRedactor([SECRET])
    for (const form of FORMS) {
      const whole = Buffer.from(`before ${form} after`)
      for (let cut = 0; cut <= whole.length; cut += 1) {
        const stream = new ByteRedactionStream(redactor)
        const pieces = [...stream.push(whole.subarray(0, cut)), ...stream.push(whole.subarray(cut)), ...stream.flush()]
        expect(Buffer.concat(pieces).toString()).toBe('before [redacted] after')
        expect(stream.found).toBe(true)
      }
    }
  })

  it('come out as the whole content would, however they are cut, also where secrets overlap', () => {
    const redactor = new SecretRedactor(['abcabcabc1', 'abc1xyzxyz', 'xyzxyz-998877'])
    const whole = Buffer.from('..abcabcabc1xyzxyz-998877..abcabcabc..abcabcabcabc1xyzxyz..'.repeat(3))
    const expected = Buffer.from(redactor.bytes(whole)).toString()
    for (const step of [1, 2, 3, 5, 7, 11, 64]) {
      const stream = new ByteRedactionStream(redactor)
      const pieces: Uint8Array[] = []
      for (let at = 0; at < whole.length; at += step) pieces.push(...stream.push(whole.subarray(at, at + step)))
      expect(Buffer.concat([...pieces, ...stream.flush()]).toString()).toBe(expected)
    }
  })
})

describe('a registered secret', () => {
  it('in files, conversation and artifacts, in every form, is in no blob, no row and no error', async () => {
    const workspace = defineWorkspace({ secrets: createSecrets({ TOKEN: SECRET }) })
    const stores = createMemoryStores()
    const { open, checkpoints } = await threadFixture({
      stores,
      definition: { workspace },
      options: { policy: { exclude: [] } },
    })
    const handle = await open()
    for (const [index, form] of FORMS.entries()) await handle.fs.write(`/workspace/file-${index}`, `a ${form} b\n`)
    await handle.fs.write('/workspace/.git/config', `url = https://user:${SECRET}@host/repo`)
    await handle.fs.write('/workspace/.env.local', `TOKEN=${SECRET}`)
    await stores.messages.saveThread('thread-1', [message(`told ${SECRET}`), ...FORMS.map((form) => message(form))])
    await checkpoints.artifacts.save({ threadId: 'thread-1', name: 'notes.txt', body: FORMS.join('\n') })
    const { id } = await checkpoints.save({ threadId: 'thread-1', label: `label ${SECRET}` })
    expect(leaksIn(await dumpOf(stores))).toEqual([])
    const { report = [] } = await checkpoints.get({ threadId: 'thread-1', checkpointId: id })
    const redacted = report.filter(({ what }) => what === 'redacted').map(({ path }) => path)
    expect(redacted.sort()).toEqual(
      ['.', '.env.local', '.git/config', ...FORMS.map((_, index) => `file-${index}`)].sort(),
    )
  })

  it('in a name or a link target keeps the entry out, and the report does not show it', async () => {
    const handle = await processSandbox()
    await handle.fs.write('/workspace/token-abcDEF123456/file', 'x')
    await sh(handle, 'ln -s /srv/abcDEF123456 link')
    const { files, report } = await capture(handle, { secrets: ['abcDEF123456'] })
    expect(files).toEqual([])
    expect(JSON.stringify(report)).not.toContain('abcDEF123456')
    expect(report.map(({ path, what }) => `${what} ${path}`)).toContain('excluded link')
  })

  it('in binary content keeps the file out instead of breaking it', async () => {
    const handle = await processSandbox()
    await handle.fs.write('/workspace/binary', Buffer.concat([Buffer.from([0, 1, 2]), Buffer.from('abcDEF123456')]))
    await handle.fs.write('/workspace/large', Buffer.concat([Buffer.alloc(600_000, 'x'), Buffer.from('abcDEF123456')]))
    const blobs = new MemoryBlobStore()
    const { files, report } = await capture(handle, { secrets: ['abcDEF123456'], blobs })
    expect(files.map(({ path }) => path)).toEqual(['large'])
    expect(report.map(({ path, what }) => `${what} ${path}`).sort()).toEqual(['excluded binary', 'redacted large'])
    const [blob] = (await blobs.list()).objects
    expect(await (await blobs.get(blob?.key ?? ''))?.text()).toMatch(/x\[redacted\]$/)
  })

  it('that only looks like one leaves everything as it is', async () => {
    const handle = await processSandbox()
    await handle.fs.write('/workspace/file', 'abcDEF12345 abcDEF12345 abcDEF')
    const { files, report } = await capture(handle, { secrets: ['abcDEF123456'] })
    expect(files).toMatchObject([{ path: 'file', size: 30 }])
    expect(report).toEqual([])
  })
})

describe('the policy on secrets', () => {
  it('exclude keeps the whole file out', async () => {
    const handle = await processSandbox()
    await handle.fs.write('/workspace/with', 'abcDEF123456')
    await handle.fs.write('/workspace/without', 'x')
    const blobs = new MemoryBlobStore()
    const { files, report } = await capture(handle, {
      secrets: ['abcDEF123456'],
      policy: { onSecret: 'exclude' },
      blobs,
    })
    expect(files.map(({ path }) => path)).toEqual(['without'])
    expect(report).toMatchObject([{ path: 'with', what: 'excluded' }])
    expect((await blobs.list()).objects).toHaveLength(1)
  })

  it('refuse saves nothing and says where, without the secret', async () => {
    const handle = await processSandbox()
    await handle.fs.write('/workspace/with', 'abcDEF123456')
    const call = capture(handle, { secrets: ['abcDEF123456'], policy: { onSecret: 'refuse' } })
    const error: unknown = await call.catch((failure: unknown) => failure)
    expect(isHoldfastError(error, 'SECRET_FOUND')).toBe(true)
    expect(String(error)).toContain('with')
    expect(String(error)).not.toContain('abcDEF123456')
  })

  it('leaves out environment files, histories and packages by default, and what is given replaces that', async () => {
    const handle = await processSandbox()
    for (const path of ['.env', '.env.local', 'sub/.env', '.git/config', 'a/node_modules/x', 'kept']) {
      await handle.fs.write(`/workspace/${path}`, 'x')
    }
    const byDefault = await capture(handle)
    expect(byDefault.files.filter(({ kind }) => kind === 'file').map(({ path }) => path)).toEqual(['kept'])
    expect(byDefault.report.map(({ path }) => path).sort()).toEqual([
      '.env',
      '.env.local',
      '.git',
      'a/node_modules',
      'sub/.env',
    ])
    const replaced = await capture(handle, { policy: { exclude: ['kept'] } })
    expect(replaced.files.filter(({ kind }) => kind === 'file')).toHaveLength(5)
    const included = await capture(handle, { policy: { include: ['sub', 'kept'] } })
    expect(included.files.map(({ path }) => path)).toEqual(['kept', 'sub'])
  })
})
