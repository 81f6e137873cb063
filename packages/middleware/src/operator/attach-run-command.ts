import { OFFSET_START } from '@holdfast/core'
import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { defineCommand } from 'citty'
import { operatorArguments, withConfig } from './load-operator-config.ts'
import { runArgument } from './show-run-command.ts'

/** Only looks: a run whose host died is left to the reaper. */
export const attachRunCommand = defineCommand({
  meta: { name: 'attach', description: 'Shows the events of a run from the first one on, until it ends' },
  args: { ...runArgument, ...operatorArguments },
  run: ({ args }) =>
    withConfig(args, async ({ stores }) => {
      const log = stores.eventLog.open({ runId: args.runId })
      for await (const { offset, chunk } of log.read(OFFSET_START)) {
        process.stdout.write(args.json ? `${JSON.stringify({ offset, chunk })}\n` : asText(chunk))
      }
      if (!args.json) process.stdout.write('\n')
    }),
})

/** The words of the model, and of everything else its name. */
function asText(chunk: StreamChunk): string {
  if (chunk.type === EventType.TEXT_MESSAGE_CONTENT) return printable(chunk.delta)
  const name: unknown = Reflect.get(chunk, 'toolCallName') ?? Reflect.get(chunk, 'name')
  return `\n[${chunk.type}${typeof name === 'string' ? ` ${printable(name)}` : ''}]\n`
}

/** What a model says must not control the terminal. Line ends and tabs may. */
function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is replaced
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\u00b7')
}
