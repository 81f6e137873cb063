import { shellQuote } from '@holdfast/core/provider-kit'
import type { WorkspaceSetupStep } from '@holdfast/core'

/** What the step file says once every command has succeeded. */
export const SETUP_DONE = 'done'

/** The commands in the order in which the script numbers them, from 0. */
export function setupCommands(steps: readonly WorkspaceSetupStep[]): string[] {
  return steps.flatMap((step) => (step.type === 'serial' ? [step.command] : step.commands))
}

/**
 * One script for one shell, so that `cd` and `export` of a command last for the next ones. `eval` keeps a command's
 * comments, here-documents and syntax errors to itself. The number of the running command is kept in `stepFile`, a path
 * relative to where the script starts; of the parallel ones, that of the first that failed.
 */
export function setupScript(steps: readonly WorkspaceSetupStep[], stepFile: string): string {
  const file = '"$holdfast_step"'
  const lines = [`holdfast_step="$PWD/"${shellQuote(stepFile)}`]
  let index = 0
  for (const step of steps) {
    if (step.type === 'serial') {
      lines.push(`echo ${index} >${file}`, `eval ${shellQuote(step.command)} || exit $?`)
      index += 1
      continue
    }
    const first = index
    for (const command of step.commands) {
      lines.push(`( eval ${shellQuote(command)} ) & holdfast_pid_${index}=$!`)
      index += 1
    }
    for (let waited = first; waited < index; waited += 1) {
      lines.push(
        `wait "$holdfast_pid_${waited}" || { holdfast_code=$?; : "\${holdfast_failed:=${waited} $holdfast_code}"; }`,
      )
    }
    lines.push(
      `if [ -n "\${holdfast_failed:-}" ]; then echo "\${holdfast_failed% *}" >${file}; exit "\${holdfast_failed#* }"; fi`,
    )
  }
  lines.push(`echo ${SETUP_DONE} >${file}`)
  return `${lines.join('\n')}\n`
}
