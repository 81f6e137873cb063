/** Does the work for each item, some at the same time: most of a round is waiting for a lease to end. */
export async function severalAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const waiting = [...items.entries()]
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next[1], next[0])
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
