/** Prints named values in two columns, or as JSON for programs. */
export function printTable(values: Readonly<Record<string, string | number>>, asJson: boolean): void {
  if (asJson) {
    process.stdout.write(`${JSON.stringify(values)}\n`)
    return
  }
  const width = Math.max(...Object.keys(values).map((name) => name.length))
  for (const [name, value] of Object.entries(values)) {
    process.stdout.write(`${name.padEnd(width)}  ${String(value).padStart(12)}\n`)
  }
}
