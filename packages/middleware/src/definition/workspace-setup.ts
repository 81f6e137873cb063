import { InvalidInputError } from '@holdfast/core'
import type { WorkspaceSetupStep } from '@holdfast/core'

/** Collects setup steps. Serial commands share one shell: `cd` and `export` last until the end of the setup. */
export interface WorkspaceSetupBuilder {
  serial: (command: string) => WorkspaceSetupBuilder
  /** Side by side, each in a copy of the shell; the next step waits for all of them. */
  parallel: (commands: readonly string[]) => WorkspaceSetupBuilder
}

export type WorkspaceSetup = readonly string[] | ((builder: WorkspaceSetupBuilder) => unknown)

/** The steps as plain data. `INVALID_CONFIGURATION` for an empty command or one that holds NUL. */
export function parseSetup(setup: WorkspaceSetup): readonly WorkspaceSetupStep[] {
  const steps: WorkspaceSetupStep[] = []
  const builder: WorkspaceSetupBuilder = {
    serial(command) {
      steps.push({ type: 'serial', command: assertCommand(command) })
      return builder
    },
    parallel(commands) {
      steps.push({ type: 'parallel', commands: commands.map(assertCommand) })
      return builder
    },
  }
  if (typeof setup === 'function') setup(builder)
  else for (const command of setup) builder.serial(command)
  return steps
}

function assertCommand(command: unknown): string {
  if (typeof command === 'string' && command.trim() !== '' && !command.includes('\0')) return command
  throw new InvalidInputError('INVALID_CONFIGURATION', 'A setup command must be a non-empty string without NUL.')
}
