/** One line per key inside a process, so that only its first member asks the database. */
export class LocalLine {
  readonly #lines = new Map<string, (() => void)[]>()

  /** Resolves when it is this caller's turn, with what ends the turn. Rejects with the signal's reason. */
  async enter(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    const line = this.#lines.get(key)
    if (line === undefined) this.#lines.set(key, [])
    else await waitInLine(line, signal)
    return () => this.#next(key)
  }

  #next(key: string): void {
    const first = this.#lines.get(key)?.shift()
    if (first === undefined) this.#lines.delete(key)
    else first()
  }
}

function waitInLine(line: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onTurn = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    const onAbort = (): void => {
      line.splice(line.indexOf(onTurn), 1)
      reject(signal.reason as Error)
    }
    line.push(onTurn)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
