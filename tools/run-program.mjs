import { execFile } from 'node:child_process'

/** Only ends what hangs. */
const TIMEOUT_MS = 1_500_000
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean }} RunOptions */

/**
 * Runs a program to its end, while others run beside it.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<{ status: string | number, stdout: string, stderr: string }>}
 */
export function tryProgram(program, args, { cwd, env = {}, shell = false } = {}) {
  const options = { cwd, shell, env: { ...process.env, ...env }, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES }
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : (error.code ?? error.signal ?? 'unknown'), stdout, stderr }),
    )
    child.stdin?.end()
  })
}

/**
 * The same for a program that has to succeed.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<string>} what it printed
 */
export async function runProgram(program, args, options) {
  const { status, stdout, stderr } = await tryProgram(program, args, options)
  if (status === 0) return stdout
  throw new Error(`${program} ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`)
}
