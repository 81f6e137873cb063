import { z } from 'zod'
import { askingPattern, decideCommand } from '../policy/decide-command.ts'
import { LiveOutput } from './live-output.ts'
import { defineSandboxTool } from './sandbox-tool.ts'

export interface BashResult {
  stdout: string
  stderr: string
  exitCode: number
  timedOut?: true
  truncated?: true
}

/** Runs a command and returns both outputs; shows them live while it runs. */
export const bashTool = defineSandboxTool({
  name: 'bash',
  description:
    'Runs a shell command (sh) in the workspace and returns stdout, stderr and the exit code. Each call is a new shell. ' +
    'Standard input is empty. Long output is cut in the middle.',
  inputSchema: z.object({
    command: z.string().min(1).max(100_000).describe('The command line, for sh.'),
    cwd: z.string().min(1).optional().describe('Directory in the workspace. Default: the workspace root.'),
    timeoutMs: z.number().int().min(1).optional().describe('Ends the command after so many milliseconds.'),
  }),
  decide: ({ command }, { policy, scripts }) => decideCommand(policy, command, scripts),
  askedBy: ({ command }, { policy, scripts }) => askingPattern(policy, command, scripts),
  describe: ({ command }) => command,
  async run(input, call): Promise<BashResult> {
    const { handle, limits, binding, signal } = call
    const stdout = new LiveOutput(call, 'process.stdout')
    const stderr = new LiveOutput(call, 'process.stderr')
    const result = await handle.process.exec(scriptNamed(input.command, binding.scripts) ?? input.command, {
      timeoutMs: Math.min(input.timeoutMs ?? limits.timeoutMs, limits.timeoutMs),
      maxOutputBytes: limits.maxOutputBytes,
      onStdout: (text) => stdout.push(text),
      onStderr: (text) => stderr.push(text),
      ...(input.cwd !== undefined && { cwd: input.cwd }),
      ...(signal !== undefined && { signal }),
    })
    const outputs = { stdout: stdout.finish(result.stdout), stderr: stderr.finish(result.stderr) }
    const isTruncated = stdout.isTruncated || stderr.isTruncated
    return {
      ...outputs,
      exitCode: result.exitCode,
      ...(result.timedOut === true && { timedOut: true as const }),
      ...(isTruncated && { truncated: true as const }),
    }
  },
})

/** The command behind a script's name. A call that is more than the name is a command of its own. */
function scriptNamed(command: string, scripts: Readonly<Record<string, string>> = {}): string | undefined {
  const name = command.trim()
  return Object.hasOwn(scripts, name) ? scripts[name] : undefined
}
