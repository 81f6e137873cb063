import { ProviderError } from '@holdfast/core'
import type { SandboxExecResult } from '@holdfast/core'
import { workspaceRedactor } from '../../secrets/workspace-redactor.ts'
import type { SandboxBuild } from '../ensure/sandbox-build.ts'
import type { Step } from '../run-steps.ts'
import { privatePath, PRIVATE_DIR, workspaceRoot } from '../workspace-marker.ts'
import { SETUP_DONE, setupCommands, setupScript } from './setup-script.ts'

/** Most characters of a failed command's output that its error carries. */
const OUTPUT_TAIL = 2_000
const MAX_OUTPUT_BYTES = 256 * 1024

/** Runs the setup commands on one shell. `SETUP_FAILED` names the command and its exit code. */
export const runSetup: Step<SandboxBuild> = {
  name: 'run setup',
  async run(build) {
    const { workspace } = build.definition
    const steps = workspace.setup ?? []
    const commands = setupCommands(steps)
    if (commands.length === 0) return
    build.report('setup', `${commands.length} ${commands.length === 1 ? 'command' : 'commands'}`)
    await build.handle.fs.write(privatePath(workspace, 'setup.sh'), setupScript(steps, `${PRIVATE_DIR}/setup-step`))
    const result = await build.handle.process.exec(`sh ./${PRIVATE_DIR}/setup.sh`, {
      cwd: workspaceRoot(workspace),
      signal: build.signal,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    })
    await assertSucceeded(build, commands, result)
  },
}

async function assertSucceeded(build: SandboxBuild, commands: string[], result: SandboxExecResult): Promise<void> {
  const step = (await build.handle.fs.read(privatePath(build.definition.workspace, 'setup-step'))).trim()
  if (result.exitCode === 0 && step === SETUP_DONE) return
  const redactor = workspaceRedactor(build.definition.workspace)
  const command = redactor.text(commands[Number(step)] ?? '')
  const output = redactor.text(result.stderr || result.stdout).slice(-OUTPUT_TAIL)
  const how =
    result.exitCode === 0 ? 'ended the shell before the setup was complete' : `failed with exit code ${result.exitCode}`
  throw new ProviderError(
    'SETUP_FAILED',
    `Setup command ${Number(step) + 1} of ${commands.length} ${how}: ${command}\n${output}`,
    {
      details: { command, exitCode: result.exitCode, index: Number(step), output },
    },
  )
}
