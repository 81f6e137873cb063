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

export interface Rates {
  /** Runs per second. */
  ours: number
  plain: number
  ratio: number
}

/** So short that what else the machine does hits a turn of both alike. */
const PER_TURN = 20

/**
 * Runs both in turns. The figures are medians over the turns, and so is the ratio, which compares two turns that follow
 * each other: a burst of other work spoils the turns that it hits and no more.
 */
export async function ratesInTurns(
  turns: number,
  ours: (index: number) => Promise<unknown>,
  plain: (index: number) => Promise<unknown>,
): Promise<Rates> {
  const spent: { ours: number; plain: number }[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    const isOursFirst = turn % 2 === 0
    const first = await timeOfTurn(turn, isOursFirst ? ours : plain)
    const second = await timeOfTurn(turn, isOursFirst ? plain : ours)
    spent.push(isOursFirst ? { ours: first, plain: second } : { ours: second, plain: first })
  }
  const warm = spent.slice(Math.ceil(turns / WARM_UP_SHARE))
  const median = (samples: number[]): number => percentile(samples, 0.5)
  return {
    ours: (PER_TURN * 1_000) / median(warm.map((turn) => turn.ours)),
    plain: (PER_TURN * 1_000) / median(warm.map((turn) => turn.plain)),
    ratio: median(warm.map((turn) => turn.plain / turn.ours)),
  }
}

/** One turn in so many, at the start, only warms up. */
const WARM_UP_SHARE = 10

async function timeOfTurn(turn: number, work: (index: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  for (let index = 0; index < PER_TURN; index += 1) await work(turn * PER_TURN + index)
  return performance.now() - startedAt
}

export function holds({ ratio, budget }: Measurement): boolean {
  if (budget === undefined) return true
  return 'atLeast' in budget ? ratio >= budget.atLeast : ratio <= budget.atMost
}

/** Prints a Markdown table and, as the last line, whether every budget holds. Answers the same. */
export function report(measurements: readonly Measurement[]): boolean {
  console.log('| what | Holdfast | plain SQL | ratio | budget | |\n|---|--:|--:|--:|--:|---|')
  for (const each of measurements) {
    const { name, ours, plain, ratio, budget } = each
    const limit = budget === undefined ? '' : 'atLeast' in budget ? `≥ ${budget.atLeast}` : `≤ ${budget.atMost}`
    const verdict = budget === undefined ? '' : holds(each) ? 'holds' : '**missed**'
    console.log(`| ${[name, ours, plain, ratio.toFixed(2), limit, verdict].join(' | ')} |`)
  }
  const short = measurements.filter((each) => !holds(each)).map(({ name, ratio }) => `${name} (${ratio.toFixed(2)})`)
  console.log(short.length === 0 ? 'ok: every budget holds' : `falls short: ${short.join('; ')}`)
  return short.length === 0
}
