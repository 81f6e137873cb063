import type { CheckpointReportEntry } from '@holdfast/core'
import type { SecretRedactor } from '../../secrets/secret-redactor.ts'

/** A checkpoint is not to grow by its report: what goes beyond is counted. */
const MAX_ENTRIES = 500
const MAX_PATH_CHARACTERS = 1_000

/** Collects what a checkpoint lacks or has changed, and why. Paths are shown without secrets. */
export class CaptureReport {
  readonly #redactor: SecretRedactor
  readonly #entries = new Map<string, CheckpointReportEntry>()
  #more = 0

  constructor(redactor: SecretRedactor) {
    this.#redactor = redactor
  }

  add(what: CheckpointReportEntry['what'], path: string, reason: string): void {
    const shown = this.#redactor.text(path).slice(0, MAX_PATH_CHARACTERS)
    const key = `${what}\0${shown}`
    if (this.#entries.has(key)) return
    if (this.#entries.size >= MAX_ENTRIES) this.#more += 1
    else this.#entries.set(key, { path: shown, what, reason })
  }

  entries(): CheckpointReportEntry[] {
    const entries = [...this.#entries.values()]
    if (this.#more === 0) return entries
    return [...entries, { path: '.', what: 'skipped', reason: `${this.#more} more are not listed here` }]
  }
}
