/** One column of a table: its heading and what a row shows there. */
export type Columns<T> = Readonly<Record<string, (row: T) => string | number | null | undefined>>

/** Prints rows as a table for people, or one JSON value a line for programs. */
export function printRows<T>(rows: readonly T[], columns: Columns<T>, asJson: boolean): void {
  if (asJson) {
    for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`)
    return
  }
  const headings = Object.keys(columns)
  const cells = rows.map((row) => Object.values(columns).map((show) => oneLine(String(show(row) ?? '–'))))
  const widths = headings.map((heading, at) => Math.max(heading.length, ...cells.map((line) => line[at]?.length ?? 0)))
  for (const line of [headings, ...cells]) {
    process.stdout.write(
      `${line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    )
  }
}

/** What is stored must not move the cursor of whoever looks at it. */
function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is replaced
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
}

/** A time as people and programs read it. */
export function showTime(epochMs: number | undefined): string | undefined {
  return epochMs === undefined ? undefined : new Date(epochMs).toISOString()
}
