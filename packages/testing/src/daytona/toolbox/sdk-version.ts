/** Whether the client's header says this version or a newer one. Anything with `dev` counts as newest [D190]. */
export function atLeastVersion(header: string | undefined, wanted: string): boolean {
  if (header === undefined) return false
  if (header.includes('dev')) return true
  const given = parts(header)
  for (const [index, number] of parts(wanted).entries()) {
    const other = given[index] ?? 0
    if (other !== number) return other > number
  }
  return true
}

function parts(version: string): number[] {
  return version
    .replace(/^v/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10) || 0)
}
