import { shellQuote } from '@holdfast/core/provider-kit'
import type { CheckpointWorkspace } from './checkpoint-workspace.ts'
import { UNSUPPORTED } from './listing-script.ts'

const HASH = `find "$@" -maxdepth 0 -type f -exec sha256sum {} + 2>/dev/null`

const SCRIPT = [
  'LC_ALL=C; export LC_ALL',
  'for tool in find base64 xargs sha256sum; do',
  `command -v "$tool" >/dev/null 2>&1 || { echo ${UNSUPPORTED}; exit 0; }; done`,
  `xargs -0 sh -c ${shellQuote(HASH)} sh | base64 -w 0`,
].join('\n')

const LINE = /(\\?)([0-9a-f]{64}) [ *]/y

/**
 * SHA-256 of files as the sandbox says, by path, in one request. A file that is missing is left out. Undefined where the
 * sandbox lacks the tools. A claim, no more: it comes from the sandbox.
 */
export async function hashFiles(
  workspace: CheckpointWorkspace,
  paths: readonly string[],
): Promise<Map<string, string> | undefined> {
  if (paths.length === 0) return new Map()
  if (!workspace.handle.capabilities.exec) return undefined
  const { stdout } = await workspace.exec(
    SCRIPT,
    paths.map((path) => `./${path}`),
  )
  if (stdout.trim() === UNSUPPORTED) return undefined
  return parseHashes(Buffer.from(stdout, 'base64').toString('utf8'), paths)
}

/** Names are in the order asked for; GNU writes some of their characters as escapes, BusyBox does not. */
function parseHashes(text: string, paths: readonly string[]): Map<string, string> {
  const hashes = new Map<string, string>()
  let at = 0
  for (const path of paths) {
    LINE.lastIndex = at
    const [, escaped, hash] = LINE.exec(text) ?? []
    if (hash === undefined) break
    const name = `./${escaped === '' ? path : escapedName(path)}\n`
    if (!text.startsWith(name, at + (escaped?.length ?? 0) + 66)) continue
    at += (escaped?.length ?? 0) + 66 + name.length
    hashes.set(path, hash)
  }
  return hashes
}

function escapedName(path: string): string {
  return path.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
}
