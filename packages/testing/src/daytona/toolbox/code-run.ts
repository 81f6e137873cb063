import { daemonError } from '../http/wire-error.ts'
import { runProgram } from './execute-command.ts'
import type { Toolbox } from './toolbox.ts'

interface CodeRunRequest {
  code: string
  language: string
  argv: string[]
  envs: Record<string, string>
  timeout: number
}

/** Languages as far as this machine has them; TypeScript runs as the JavaScript it contains. */
const INTERPRETERS: Record<string, readonly [string, ...string[]]> = {
  python: ['python3', '-'],
  javascript: ['node', '-'],
  typescript: ['node', '-'],
}

export async function runCode(toolbox: Toolbox, request: Partial<CodeRunRequest>): Promise<object> {
  const { code = '', language = '', argv = [], envs = {}, timeout = 0 } = request
  const interpreter = INTERPRETERS[language]
  if (!interpreter) throw daemonError(400, `unsupported language: ${language}`)
  const result = await runProgram(toolbox, { argv: [...interpreter, ...argv], input: code, envs, timeout })
  return { ...result, artifacts: { charts: [] } }
}
