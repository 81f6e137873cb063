import { parseArgs } from 'node:util'
import { runStorm } from './run-storm.ts'

/** `storm --seed N --seeds COUNT --operations M --leases L`. The last line is `ok: …` or what broke. */
export async function stormCommand(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      operations: { type: 'string', default: '2000' },
      leases: { type: 'string', default: '20' },
    },
  })
  const first = Number(values.seed)
  const operations = Number(values.operations)
  for (let seed = first; seed < first + Number(values.seeds); seed += 1) {
    const startedAt = performance.now()
    try {
      const outcomes = await runStorm({ seed, operations, leases: Number(values.leases) })
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      console.log(`seed ${seed}: ${seconds} s, ${JSON.stringify(outcomes)}`)
    } catch (error) {
      process.exitCode = 1
      console.error(error)
      console.log(`broken: seed ${seed}: ${error instanceof Error ? error.message : String(error)}`)
      return
    }
  }
  console.log(`ok: ${values.seeds} seed(s) from ${first}, ${operations} operations each`)
}
