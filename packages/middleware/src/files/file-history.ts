import { isHoldfastError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import type { FileChange } from './file-change.ts'
import type { GitBaseline } from './git-baseline.ts'
import { MAX_DIFFED_BYTES } from './unified-diff.ts'

/** Most characters of earlier contents that are kept. */
const MAX_KEPT_CHARACTERS = 8 * 1024 * 1024

/** What files held before and hold now. Contents above the size limit are undefined. */
export class FileHistory {
  readonly #handle: SandboxHandle
  readonly #root: string
  readonly #baseline: GitBaseline | null
  /** Last content seen, oldest first. Only without a repository, which remembers better. */
  readonly #seen = new Map<string, string>()
  #keptCharacters = 0

  constructor(handle: SandboxHandle, root: string, baseline: GitBaseline | null) {
    this.#handle = handle
    this.#root = root
    this.#baseline = baseline
  }

  /** At the baseline, else when an earlier change was shown; empty when neither is known. */
  async before(path: string): Promise<string | undefined> {
    return this.#baseline === null ? (this.#seen.get(path) ?? '') : this.#baseline.show(path)
  }

  /** Now. Empty for a file that is gone. */
  async after(change: FileChange): Promise<string | undefined> {
    if (change.type === 'delete') return ''
    if (change.size > MAX_DIFFED_BYTES) return undefined
    try {
      return await this.#handle.fs.read(`${this.#root}/${change.path}`)
    } catch (error) {
      if (isHoldfastError(error, 'FILE_NOT_FOUND')) return ''
      throw error
    }
  }

  /** Keeps what was shown, for the next comparison. */
  remember(path: string, content: string): void {
    if (this.#baseline !== null) return
    this.#forget(path)
    this.#seen.set(path, content)
    this.#keptCharacters += content.length
    for (const oldest of this.#seen.keys()) {
      if (this.#keptCharacters <= MAX_KEPT_CHARACTERS) return
      this.#forget(oldest)
    }
  }

  #forget(path: string): void {
    this.#keptCharacters -= this.#seen.get(path)?.length ?? 0
    this.#seen.delete(path)
  }
}
