import type { ModelMessage } from '@tanstack/ai'

export interface CommandResult {
  output: string
  /** Absent when the command did not run to its end. */
  exitCode?: number
  /** A person did not let it run. */
  isDenied?: true
}

/** Reads the result of the `bash` or `publish_artifact` tool as a model sees it. */
export function commandResult(message: ModelMessage | undefined): CommandResult {
  const text = typeof message?.content === 'string' ? message.content : ''
  const result = parseObject(text)
  if (result === undefined) return { output: text }
  const { stdout, stderr, exitCode, error, artifactId, name, approved } = result
  if (approved === false) return { output: '', isDenied: true }
  if (typeof artifactId === 'string') return { output: `published as ${String(name)}`, exitCode: 0 }
  const output = [stdout, stderr, error].filter((part) => typeof part === 'string' && part !== '').join('\n')
  return typeof exitCode === 'number' ? { output, exitCode } : { output }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
