import { parseArgs } from 'node:util'
import { startDaytonaServer, type DaytonaServer } from './daytona-server.ts'

export interface ProgramIo {
  argv: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  print: (line: string) => void
}

/**
 * Starts a server from a command line and prints the two variables that a client needs. `--port`, `--api-key` and
 * `--seed` are optional; `PORT` and `DAYTONA_API_KEY` stand in for the first two.
 */
export async function runDaytonaProgram({ argv, env, print }: ProgramIo): Promise<DaytonaServer> {
  const { values } = parseArgs({
    args: [...argv],
    options: { port: { type: 'string' }, 'api-key': { type: 'string' }, seed: { type: 'string' } },
  })
  const apiKey = values['api-key'] ?? env['DAYTONA_API_KEY']
  const server = await startDaytonaServer({
    port: wholeNumber('--port', values.port ?? env['PORT'] ?? '0'),
    seed: wholeNumber('--seed', values.seed ?? '1'),
    ...(apiKey ? { apiKey } : {}),
  })
  print(`DAYTONA_API_URL=${server.url}`)
  print(`DAYTONA_API_KEY=${server.apiKey}`)
  return server
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new TypeError(`${option} must be a whole number, not "${text}".`)
  return Number(text)
}
