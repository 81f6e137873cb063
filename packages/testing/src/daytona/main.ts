import { runDaytonaProgram } from './daytona-program.ts'

const server = await runDaytonaProgram({
  argv: process.argv.slice(2),
  env: process.env,
  print: (line) => console.log(line),
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void server.close())
