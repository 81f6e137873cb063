import type { CommandResult } from './command-result.ts'

const MAX_OUTPUT_CHARS = 4_000

export const INTRODUCTION = [
  'I am a **demo model**: a script that needs no key and no network, so I cannot answer questions.',
  '',
  'I can run commands in your sandbox, though. Start a line with `$ ` and I run it with the `bash` tool, one line after',
  'the other, and report what came out:',
  '',
  '```',
  '$ echo "hello from the sandbox" > hello.txt',
  '$ for i in 1 2 3 4 5 6; do echo tick $i; sleep 1; done',
  '```',
  '',
  'A line `$ publish hello.txt` hands you a file to download.',
  '',
  'Before a command such as `rm -rf`, `sudo` or `git push` runs, you are asked.',
  '',
  'Reload the page in the middle, or close it: the commands run on, and nothing is lost. Set `OPENAI_API_KEY` or',
  '`ANTHROPIC_API_KEY` and start again to talk to a real model with the same tools.',
].join('\n')

/** Output and exit codes of what ran, as Markdown. */
export function reportOf(commands: readonly { command: string; result: CommandResult }[]): string {
  return [verdictOf(commands.map(({ result }) => result)), ...commands.map(commandSection)].join('\n\n')
}

function verdictOf(results: readonly CommandResult[]): string {
  const ran = results.filter(({ isDenied }) => isDenied === undefined)
  const failed = ran.filter(({ exitCode }) => exitCode !== 0).length
  const denied = results.length - ran.length
  const count = results.length === 1 && denied === 0 ? 'the command' : counted(ran.length)
  const rest = [failed > 0 && `${failed} did not succeed`, denied > 0 && `you denied ${counted(denied)}`]
  return `${[`I ran ${count}`, ...rest].filter(Boolean).join('; ')}.`
}

function counted(commands: number): string {
  if (commands === 0) return 'nothing'
  return commands === 1 ? 'one command' : `${commands} commands`
}

function commandSection({ command, result }: { command: string; result: CommandResult }): string {
  if (result.isDenied) return `${inlineCode(command)}: denied, not run.`
  const heading = `${inlineCode(command)}: ${exitText(result.exitCode)}`
  const output = clip(result.output.replace(/\n$/, ''))
  if (output === '') return `${heading}, no output.`
  const fence = '`'.repeat(Math.max(3, longestBackticks(output) + 1))
  return `${heading}\n\n${fence}text\n${output}\n${fence}`
}

function exitText(exitCode: number | undefined): string {
  return exitCode === undefined ? 'did not finish' : `exit code ${exitCode}`
}

function inlineCode(text: string): string {
  const fence = '`'.repeat(longestBackticks(text) + 1)
  return fence.length === 1 ? `\`${text}\`` : `${fence} ${text} ${fence}`
}

function longestBackticks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
}

function clip(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text
  return `… ${text.length - MAX_OUTPUT_CHARS} characters left out …\n${text.slice(-MAX_OUTPUT_CHARS)}`
}
