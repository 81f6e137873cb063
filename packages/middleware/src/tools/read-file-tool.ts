import { InvalidInputError } from '@holdfast/core'
import { z } from 'zod'
import { assertReadable } from './assert-readable.ts'
import { headAndTail } from './head-tail-text.ts'
import { defineSandboxTool } from './sandbox-tool.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a text file, or some lines of it. */
export const readFileTool = defineSandboxTool({
  name: 'read_file',
  description: 'Reads a text file of the workspace. Give offset and limit to read some lines of a long file.',
  inputSchema: z.object({
    path: z.string().min(1).describe('Path in the workspace.'),
    offset: z.number().int().min(1).optional().describe('First line, counted from 1.'),
    limit: z.number().int().min(1).optional().describe('Number of lines.'),
  }),
  async run({ path, offset = 1, limit }, { handle, limits, binding }) {
    await assertReadable(handle, path)
    const whole = decoded(path, await handle.fs.readBytes(path))
    const lines = whole.split('\n')
    const isWhole = offset === 1 && limit === undefined
    const chosen = isWhole ? whole : lines.slice(offset - 1, limit && offset - 1 + limit).join('\n')
    const { text, isTruncated } = headAndTail(binding.redactor?.text(chosen) ?? chosen, limits.maxOutputBytes)
    return { path, content: text, totalLines: lines.length, ...(isTruncated && { truncated: true }) }
  },
})

function decoded(path: string, bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new InvalidInputError('INVALID_ARGUMENT', `${path} is not UTF-8 text (${bytes.length} bytes).`, { cause })
  }
}
