/** One line of the report. `budget` is what the ratio must reach, or must not pass. */
export interface Measurement {
  name: string
  ours: string
  plain: string
  ratio: number
  budget?: { atLeast: number } | { atMost: number }
}

export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Runs both in turns, so that what else the machine does hits both alike; gives runs per second of each. */
export async function ratesInTurns(
  rounds: number,
  perRound: number,
  ours: (index: number) => Promise<unknown>,
  plain: (index: number) => Promise<unknown>,
): Promise<{ ours: number; plain: number }> {
  const spent = { ours: 0, plain: 0 }
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, work] of [
      ['ours', ours],
      ['plain', plain],
    ] as const) {
      const startedAt = performance.now()
      for (let index = 0; index < perRound; index += 1) await work((round + 1) * perRound + index)
      // The first round warms up.
      if (round >= 0) spent[name] += performance.now() - startedAt
    }
  }
  const all = rounds * perRound * 1_000
  return { ours: all / spent.ours, plain: all / spent.plain }
}

export function holds({ ratio, budget }: Measurement): boolean {
  if (budget === undefined) return true
  return 'atLeast' in budget ? ratio >= budget.atLeast : ratio <= budget.atMost
}

/** Prints the table and, as the last line, whether every budget holds. Answers the same. */
export function report(measurements: readonly Measurement[]): boolean {
  for (const { name, ours, plain, ratio, budget } of measurements) {
    const limit = budget === undefined ? '' : 'atLeast' in budget ? `>= ${budget.atLeast}` : `<= ${budget.atMost}`
    console.log(
      `${name.padEnd(44)} ${ours.padStart(14)} ${plain.padStart(14)} ${ratio.toFixed(2).padStart(8)}  ${limit}`,
    )
  }
  const short = measurements.filter((each) => !holds(each)).map(({ name, ratio }) => `${name} (${ratio.toFixed(2)})`)
  console.log(short.length === 0 ? 'ok: every budget holds' : `falls short: ${short.join('; ')}`)
  return short.length === 0
}
