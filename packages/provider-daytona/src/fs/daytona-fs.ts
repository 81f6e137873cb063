import type { SandboxBackendFs, SandboxDirEntry, SandboxFileStat } from '@holdfast/core'
import { ConflictError, InvalidInputError, NotFoundError, ProviderError } from '@holdfast/core/provider-kit'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { newNonce } from '../naming.ts'
import { askScript } from '../script/ask-script.ts'
import { frameBytes } from '../script/frames.ts'
import {
  chmodCall,
  existsCall,
  listCall,
  lstatCall,
  MAX_INLINE_BYTES,
  mkdirCall,
  readCall,
  readlinkCall,
  removeCall,
  renameCall,
  symlinkCall,
  writeCall,
} from './file-calls.ts'
import { fileScript } from './file-script.ts'
import type { TransferFiles } from './transfer-files.ts'

interface CallAnswer {
  outcome: string
  bytes: Uint8Array
}

const FILE_TYPES: Readonly<Record<number, 'file' | 'dir' | 'symlink'>> = {
  0o100000: 'file',
  0o040000: 'dir',
  0o120000: 'symlink',
}
const TYPE_BITS = 0o170000

/** Files of one sandbox. A call is one request; a large file takes one more for its bytes. */
export class DaytonaFs implements SandboxBackendFs {
  readonly #live: LiveSandbox
  readonly #transfers: TransferFiles

  constructor(live: LiveSandbox, transfers: TransferFiles) {
    this.#live = live
    this.#transfers = transfers
  }

  async readBytes(path: string): Promise<Uint8Array> {
    const name = newNonce()
    const answer = await this.#call('read', path, readCall(path, name))
    if (answer.outcome !== 'big') return answer.bytes
    try {
      return await this.#transfers.download(name, Number(new TextDecoder().decode(answer.bytes)))
    } finally {
      this.#transfers.forget(name)
    }
  }

  async write(path: string, data: Uint8Array): Promise<void> {
    if (data.length <= MAX_INLINE_BYTES) return void (await this.#call('write', path, writeCall(path, data)))
    const uploaded = await this.#transfers.upload(data)
    try {
      await this.#call('write', path, writeCall(path, { uploaded, size: data.length }))
    } finally {
      this.#transfers.forget(uploaded)
    }
  }

  async list(path: string): Promise<SandboxDirEntry[]> {
    const { bytes } = await this.#call('list', path, listCall(path))
    const entries = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).split('\0').slice(0, -1)
    return entries.map((entry) => {
      const name = entry.slice(1)
      return { name, path: `${path}/${name}`, type: entry.startsWith('d') ? 'dir' : 'file' }
    })
  }

  async mkdir(path: string): Promise<void> {
    await this.#call('mkdir', path, mkdirCall(path))
  }

  async remove(path: string): Promise<void> {
    await this.#call('remove', path, removeCall(path))
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#call('rename', from, renameCall(from, to))
  }

  async exists(path: string): Promise<boolean> {
    const { outcome } = await this.#call('exists', path, existsCall(path), ['absent', 'conflict'])
    return outcome === 'ok'
  }

  async lstat(path: string): Promise<SandboxFileStat | undefined> {
    const { outcome, bytes } = await this.#call('lstat', path, lstatCall(path), ['absent'])
    if (outcome === 'absent') return undefined
    const [hexMode = '', size = ''] = new TextDecoder().decode(bytes).split(' ')
    const mode = Number.parseInt(hexMode, 16)
    const type = FILE_TYPES[mode & TYPE_BITS] ?? 'other'
    return type === 'file' ? { type, mode, size: Number(size) } : { type, mode }
  }

  async readlink(path: string): Promise<string> {
    const { bytes } = await this.#call('readlink', path, readlinkCall(path))
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  }

  async symlink(target: string, path: string): Promise<void> {
    await this.#call('symlink', path, symlinkCall(target, path))
  }

  async chmod(path: string, mode: number): Promise<void> {
    await this.#call('chmod', path, chmodCall(path, mode))
  }

  /** Sends one call. `expected` are the outcomes besides success that the caller reads itself. */
  async #call(name: string, path: string, body: string, expected: readonly string[] = []): Promise<CallAnswer> {
    const nonce = newNonce()
    const finished = this.#transfers.takeForgotten()
    const { workspaceRoot, stateDir, vendor, account } = this.#live
    const script = fileScript({ nonce, workspaceRoot, stateDir, finished, body })
    const frames = await askScript({
      vendor,
      nonce,
      script,
      options: { operation: `file ${name}`, timeoutMs: account.livenessMs },
      request: (options, send) => this.#live.request(options, send),
    })
    const outcome = frames.findLast(({ kind }) => kind !== 'b' && kind !== 'z')?.kind ?? 'failed'
    const content = frames.find(({ kind }) => kind === 'b' || kind === 'z')
    if (outcome === 'ok' || outcome === 'big' || expected.includes(outcome)) {
      return { outcome, bytes: content === undefined ? new Uint8Array() : frameBytes(content) }
    }
    throw fileError(outcome, `${name} ${path.slice(workspaceRoot.length + 1) || '.'}`)
  }
}

function fileError(outcome: string, what: string): Error {
  switch (outcome) {
    case 'absent':
      return new NotFoundError('FILE_NOT_FOUND', `${what}: no such file or directory.`)
    case 'conflict':
      return new ConflictError('FILE_CONFLICT', `${what}: a file and a directory stand in each other's way.`)
    case 'outside':
      return new InvalidInputError('INVALID_PATH', `${what}: the path leads through a link out of the workspace.`)
    default:
      return new ProviderError('FILE_FAILED', `${what} failed in the sandbox.`)
  }
}
