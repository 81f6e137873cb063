/** What may be bound to a placeholder, on every driver. Lists travel as JSON text. */
export type SqlValue = string | number | boolean | null | Uint8Array

export type Row = Readonly<Record<string, unknown>>

/** `per-call`: which plan is fast depends on the values, so that one for all values, as a server may keep, would not do. */
export type PlanTime = 'once' | 'per-call'

/** SQL with the schema written as `holdfast.`, whatever it is called in the database. */
export interface Statement {
  readonly text: string
  /** Whether running it once more after a lost reply gives the same state and answer. */
  readonly repeatable: boolean
  /** Default `once`. */
  readonly planned?: PlanTime
}

export function repeatable(text: string): Statement {
  return { text, repeatable: true }
}

export function once(text: string): Statement {
  return { text, repeatable: false }
}

/** Rewrites statements for one schema name; each text is rewritten once. */
export class StatementTexts {
  readonly #schema: string
  readonly #texts = new WeakMap<Statement, string>()

  constructor(schema: string) {
    this.#schema = schema
  }

  of(statement: Statement): string {
    let text = this.#texts.get(statement)
    if (text === undefined) {
      text = inSchema(statement.text, this.#schema)
      this.#texts.set(statement, text)
    }
    return text
  }
}

/** `text` with `holdfast.` and `"holdfast".` replaced by the quoted schema name. */
export function inSchema(text: string, schema: string): string {
  return text.replaceAll(/"holdfast"\.|\bholdfast\./g, () => `${quoteIdentifier(schema)}.`)
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
