import { spawn } from 'node:child_process'
import type { SandboxBackendHandle, SandboxExecResult } from '../../src/index.ts'
import { stubHandle } from './stub-backend.ts'

/** Runs commands with the machine's own `sh` in `root`, and notes each command line with its variables. */
export function localShellHandle(root: string, lines: string[]): SandboxBackendHandle {
  return {
    ...stubHandle([]),
    workspaceRoot: root,
    exec: (command, options) => {
      lines.push(command)
      return runShell(command, options.cwd, options.env, options.stdin)
    },
  }
}

function runShell(
  command: string,
  cwd: string,
  vars: Record<string, string>,
  stdin: Uint8Array,
): Promise<SandboxExecResult> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', ...vars }
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd, env })
    const texts = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === null) reject(new Error(`killed by ${signal}`))
      else resolve({ ...texts, exitCode: code })
    })
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.end(stdin)
  })
}
