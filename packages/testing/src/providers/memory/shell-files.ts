import { posix } from 'node:path'
import type { BufferEncoding as ShellEncoding, FileContent, FsStat, IFileSystem } from 'just-bash'
import { errnoOf } from '../files/file-error.ts'
import { copyNode } from './memory-node.ts'
import type { MemoryNode } from './memory-node.ts'
import { touch } from './memory-tree.ts'
import type { MemoryTree } from './memory-tree.ts'
import { systemError } from './system-error.ts'

/** A tree in memory as the shell library wants its file system. */
export class ShellFiles implements IFileSystem {
  readonly #tree: MemoryTree

  constructor(tree: MemoryTree) {
    this.#tree = tree
  }

  async readFile(path: string, options?: { encoding?: ShellEncoding | null } | ShellEncoding): Promise<string> {
    return Buffer.from(this.#tree.read(path).data).toString(encodingOf(options))
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#tree.read(path).data.slice()
  }

  async writeFile(
    path: string,
    content: FileContent,
    options?: { encoding?: ShellEncoding } | ShellEncoding,
  ): Promise<void> {
    this.#tree.write(path, bytesOf(content, encodingOf(options)))
  }

  async appendFile(
    path: string,
    content: FileContent,
    options?: { encoding?: ShellEncoding } | ShellEncoding,
  ): Promise<void> {
    const { node } = this.#tree.locate(path, true)
    const before = node?.type === 'file' ? node.data : new Uint8Array()
    this.#tree.write(path, Buffer.concat([before, bytesOf(content, encodingOf(options))]))
  }

  async exists(path: string): Promise<boolean> {
    return this.#isThere(path, true)
  }

  async stat(path: string): Promise<FsStat> {
    return shellStat(this.#tree.find(path, true))
  }

  async lstat(path: string): Promise<FsStat> {
    return shellStat(this.#tree.find(path, false))
  }

  /** The library sets up a file system's `/bin` and `/dev` only where it finds this and `mkdirSync`. */
  writeFileSync(path: string, content: FileContent, options?: { encoding?: ShellEncoding } | ShellEncoding): void {
    this.#tree.write(path, bytesOf(content, encodingOf(options)))
  }

  mkdirSync(path: string, options: { recursive?: boolean } = {}): void {
    this.#tree.mkdir(path, options.recursive ?? false)
  }

  async mkdir(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    this.#tree.mkdir(path, options.recursive ?? false)
  }

  async readdir(path: string): Promise<string[]> {
    return [...this.#tree.dir(path).children.keys()].sort()
  }

  async readdirWithFileTypes(path: string): ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>> {
    const children = [...this.#tree.dir(path).children].sort(([a], [b]) => (a < b ? -1 : 1))
    return children.map(([name, node]) => ({ name, ...kindOf(node) }))
  }

  async rm(path: string, options: { recursive?: boolean; force?: boolean } = {}): Promise<void> {
    if (options.force === true && !this.#isThere(path, false)) return
    this.#tree.remove(path, options.recursive ?? false)
  }

  async cp(from: string, to: string, options: { recursive?: boolean } = {}): Promise<void> {
    const node = this.#tree.find(from, true)
    if (node.type === 'file') {
      const copy = this.#tree.write(to, node.data)
      copy.permissions = node.permissions
      return
    }
    if (options.recursive !== true) throw systemError('EISDIR', from)
    this.#tree.mkdir(to, true)
    const target = this.#tree.dir(to)
    for (const [name, child] of (copyNode(node) as typeof target).children) target.children.set(name, child)
  }

  async mv(from: string, to: string): Promise<void> {
    this.#tree.rename(from, to)
  }

  resolvePath(base: string, path: string): string {
    return posix.resolve('/', base, path)
  }

  getAllPaths(): string[] {
    const paths: string[] = []
    const visit = (path: string, node: MemoryNode): void => {
      paths.push(path === '' ? '/' : path)
      if (node.type === 'dir') for (const [name, child] of node.children) visit(`${path}/${name}`, child)
    }
    visit('', this.#tree.root)
    return paths
  }

  async chmod(path: string, mode: number): Promise<void> {
    const node = this.#tree.find(path, true)
    if (node.type === 'symlink') return
    node.permissions = mode & 0o7777
    touch(node)
  }

  async symlink(target: string, path: string): Promise<void> {
    this.#tree.symlink(target, path)
  }

  async link(existing: string, path: string): Promise<void> {
    this.#tree.link(existing, path)
  }

  async readlink(path: string): Promise<string> {
    const node = this.#tree.find(path, false)
    if (node.type !== 'symlink') throw systemError('EINVAL', path)
    return node.target
  }

  async realpath(path: string): Promise<string> {
    const { path: real, node } = this.#tree.locate(path, true)
    if (node === undefined) throw systemError('ENOENT', path)
    return real
  }

  async utimes(path: string, _atime: Date, mtime: Date): Promise<void> {
    const node = this.#tree.find(path, true)
    touch(node)
    node.mtime = mtime.getTime()
  }

  /** A shell knows no third answer: what cannot be found out is not there. */
  #isThere(path: string, followLast: boolean): boolean {
    try {
      return this.#tree.locate(path, followLast).node !== undefined
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      return false
    }
  }
}

function encodingOf(options: { encoding?: ShellEncoding | null } | ShellEncoding | undefined): BufferEncoding {
  const encoding = typeof options === 'string' ? options : options?.encoding
  return encoding === 'binary' ? 'latin1' : (encoding ?? 'utf8')
}

function bytesOf(content: FileContent, encoding: BufferEncoding): Uint8Array {
  return typeof content === 'string' ? new Uint8Array(Buffer.from(content, encoding)) : content.slice()
}

function kindOf(node: MemoryNode): Pick<FsStat, 'isFile' | 'isDirectory' | 'isSymbolicLink'> {
  return {
    isFile: node.type === 'file',
    isDirectory: node.type === 'dir',
    isSymbolicLink: node.type === 'symlink',
  }
}

function shellStat(node: MemoryNode): FsStat {
  return {
    ...kindOf(node),
    mode: node.permissions,
    size: node.type === 'file' ? node.data.length : 0,
    mtime: new Date(node.mtime),
  }
}
