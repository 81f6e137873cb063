import { faultsOfRound } from './check-round.ts'
import { crashRound } from './crash-round.ts'
import type { SecondHost } from './crash-round.ts'
import type { CrashPlan } from './host-life.ts'
import { severalAtOnce } from './several-at-once.ts'

/** Runs the rounds a few at a time; answers what went wrong, by name. */
export async function failuresOf(second: SecondHost, plans: readonly CrashPlan[], atOnce: number): Promise<string[]> {
  const failures: string[] = []
  await severalAtOnce(plans, atOnce, async (plan, index) => {
    const threadId = `${plan.name.replaceAll(/[^a-z0-9]+/gi, '-')}-${index}`
    const result = await crashRound(second, threadId, plan)
    for (const fault of await faultsOfRound(second, threadId, result)) failures.push(`${plan.name}: ${fault}`)
  })
  return failures
}

/** The calls of a host that nobody kills, which must leave nothing to complain of. */
export async function undisturbedCalls(second: SecondHost): Promise<readonly string[]> {
  const result = await crashRound(second, 'undisturbed', { name: 'undisturbed' })
  const faults = await faultsOfRound(second, 'undisturbed', result)
  if (result.exit !== 'lived') faults.push('the undisturbed host died')
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return result.calls ?? []
}
