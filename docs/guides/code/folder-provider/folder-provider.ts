import { randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConflictError, defineSandboxProvider, NotFoundError, UnsupportedError } from '@holdfast/core'
import type { SandboxBackend, SandboxBackendHandle, SandboxCreateInput, SandboxProvider } from '@holdfast/core'
import { CAPABILITIES } from './folder-capabilities.ts'
import { checkedFirst, fileError, folderFiles } from './folder-files.ts'
import { runCommand } from './run-command.ts'

type Labels = Readonly<Record<string, string>>

/** Sandboxes that are folders of this machine. They isolate nothing: this is an example and not for use. */
export function folderProvider(root: string): SandboxProvider {
  return defineSandboxProvider(new FolderBackend(root))
}

class FolderBackend implements SandboxBackend {
  readonly name = 'folder'
  readonly mapError = fileError
  readonly #root: string
  /** What ends the commands that run in each sandbox. */
  readonly #endings = new Map<string, Set<() => void>>()

  constructor(root: string) {
    this.#root = root
  }

  capabilities() {
    return CAPABILITIES
  }

  async create({ id = randomUUID(), labels = {} }: SandboxCreateInput): Promise<SandboxBackendHandle> {
    // Made aside and renamed, so that it is there whole or not at all, and only one of two creators wins.
    const draft = this.#folder(id, `.${randomUUID()}`)
    for (const part of ['workspace', 'staging', 'home']) await mkdir(join(draft, part), { recursive: true })
    await writeFile(join(draft, 'labels.json'), JSON.stringify(labels))
    try {
      await rename(draft, this.#folder(id))
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      const found = await this.#labels(id)
      if (found === null) throw error
      if (!haveSame(found, labels)) throw new ConflictError('SANDBOX_FOREIGN', `Folder ${id} has other labels.`)
    }
    return this.#open(id)
  }

  async resume({ id }: { id: string }): Promise<SandboxBackendHandle | null> {
    return (await this.#labels(id)) === null ? null : this.#open(id)
  }

  async destroy({ id }: { id: string }): Promise<void> {
    for (const end of this.#endings.get(id) ?? []) end()
    this.#endings.delete(id)
    await rm(this.#folder(id), { recursive: true, force: true, maxRetries: 5 })
  }

  async list({ labels }: { labels: Labels }) {
    const ids = ((await readdir(this.#root).catch(nullWhenAbsent)) ?? []).map(decodeURIComponent)
    const found = await Promise.all(ids.map(async (sandboxId) => ({ sandboxId, own: await this.#labels(sandboxId) })))
    return found.flatMap(({ sandboxId, own }) =>
      own !== null && carries(own, labels) ? [{ sandboxId, labels: own, state: 'running' }] : [],
    )
  }

  #open(id: string): SandboxBackendHandle {
    const folder = this.#folder(id)
    const endings = this.#endings.get(id) ?? new Set()
    this.#endings.set(id, endings)
    const assertThere = async () => {
      if ((await this.#labels(id)) === null) throw new NotFoundError('SANDBOX_NOT_FOUND', `Folder ${id} is gone.`)
    }
    return {
      id,
      workspaceRoot: join(folder, 'workspace'),
      fs: checkedFirst(folderFiles(join(folder, 'staging')), assertThere),
      exec: async (...call) => {
        await assertThere()
        return runCommand(call, { folder, endings })
      },
      spawn: async () => {
        throw new UnsupportedError('CAPABILITY_UNSUPPORTED', 'A folder runs commands to their end.')
      },
      destroy: () => this.destroy({ id }),
    }
  }

  async #labels(id: string): Promise<Labels | null> {
    const text = await readFile(join(this.#folder(id), 'labels.json'), 'utf8').catch(nullWhenAbsent)
    return text === null ? null : JSON.parse(text)
  }

  #folder(id: string, suffix = ''): string {
    return join(this.#root, encodeURIComponent(id) + suffix)
  }
}

const carries = (own: Labels, wanted: Labels) => Object.entries(wanted).every(([name, value]) => own[name] === value)
const haveSame = (a: Labels, b: Labels) => carries(a, b) && carries(b, a)

function nullWhenAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
