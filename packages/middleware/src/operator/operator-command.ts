import { defineCommand } from 'citty'
import { attachRunCommand } from './attach-run-command.ts'
import { cancelRunCommand } from './cancel-run-command.ts'
import { listRunsCommand } from './list-runs-command.ts'
import { reapCommand } from './reap-command.ts'
import { showRunCommand } from './show-run-command.ts'
import { sweepCommand } from './sweep-command.ts'

const runsCommand = defineCommand({
  meta: { name: 'runs', description: 'Shows, follows and ends runs' },
  subCommands: { list: listRunsCommand, show: showRunCommand, cancel: cancelRunCommand, attach: attachRunCommand },
})

export const operatorCommand = defineCommand({
  meta: { name: 'holdfast', description: 'Looks after the runs and sandboxes of an app' },
  subCommands: { runs: runsCommand, reap: reapCommand, sweep: sweepCommand },
})
