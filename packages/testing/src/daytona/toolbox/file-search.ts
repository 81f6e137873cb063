import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** Bytes at the start of a file in which a NUL marks it as not text. */
const TEXT_PROBE_BYTES = 512

/** Lines of text files that hold the pattern as it is. */
export async function findInFiles(root: string, pattern: string): Promise<object[]> {
  const matches: object[] = []
  for (const file of await filesBelow(root)) {
    const bytes = await readFile(file)
    if (bytes.subarray(0, TEXT_PROBE_BYTES).includes(0)) continue
    for (const [index, content] of bytes.toString('utf8').split('\n').entries()) {
      if (content.includes(pattern)) matches.push({ file, line: index + 1, content })
    }
  }
  return matches
}

/** Paths whose last segment matches the glob. */
export async function searchFiles(root: string, pattern: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true })
  const matcher = globMatcher(pattern)
  return entries.filter((entry) => matcher.test(basename(entry))).map((entry) => join(root, entry))
}

/** Replaces the pattern as it is, file by file; a file that fails is reported and the rest go on. */
export async function replaceInFiles(files: readonly string[], pattern: string, newValue: string): Promise<object[]> {
  const results: object[] = []
  for (const file of files) {
    try {
      const text = await readFile(file, 'utf8')
      await writeFile(
        file,
        text.replaceAll(pattern, () => newValue),
      )
      results.push({ file, success: true })
    } catch (error) {
      results.push({ file, success: false, error: error instanceof Error ? error.message : 'failed' })
    }
  }
  return results
}

function globMatcher(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|\\]/g, (match) => `\\${match}`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 's')
}

async function filesBelow(root: string): Promise<string[]> {
  const stats = await stat(root)
  if (stats.isFile()) return [root]
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
