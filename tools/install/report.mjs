/** @typedef {(note: (line: string) => void) => string[] | Promise<string[]>} Check says what is wrong, and notes what is worth seeing */

/** How each part ended. Parts that run at the same time do not mix their lines. */
export class Report {
  #passed = 0
  #skipped = 0
  /** @type {string[]} */
  #failures = []

  async check(/** @type {string} */ title, /** @type {Check} */ findFaults) {
    const startedAt = performance.now()
    /** @type {string[]} */
    const notes = []
    let faults
    try {
      faults = await findFaults((line) => notes.push(line))
    } catch (error) {
      faults = [error instanceof Error ? (error.stack ?? error.message) : String(error)]
    }
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const lines = [...notes, ...faults].map((line) => `        ${line.trimEnd().replaceAll('\n', '\n        ')}`)
    console.log([`${faults.length === 0 ? 'passed' : 'FAILED'}  ${title} (${seconds} s)`, ...lines].join('\n'))
    if (faults.length === 0) this.#passed += 1
    else this.#failures.push(title)
  }

  skip(/** @type {string} */ title, /** @type {string} */ reason) {
    this.#skipped += 1
    console.log(`skipped ${title}: ${reason}`)
  }

  /** @returns {boolean} whether everything that was checked passed */
  end() {
    const skipped = this.#skipped > 0 ? `, ${this.#skipped} skipped` : ''
    console.log(`\n${this.#passed} passed, ${this.#failures.length} failed${skipped}`)
    for (const title of this.#failures) console.log(`  FAILED  ${title}`)
    return this.#failures.length === 0 && this.#passed > 0
  }
}

/** Does the jobs in their order, so many at a time. */
export async function inTurns(/** @type {(() => Promise<void>)[]} */ jobs, /** @type {number} */ atOnce) {
  const waiting = jobs.values()
  const worker = async () => {
    for (const job of waiting) await job()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
