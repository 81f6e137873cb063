const slots = Symbol.for('holdfast.example.per-process')
const holder = globalThis as { [slots]?: Map<string, Promise<unknown>> }

/**
 * One value for the whole process, however often a bundler copies or reloads this module. A value that could not be
 * made is forgotten, so that the next call tries again.
 */
export function perProcess<T>(name: string, create: () => Promise<T>): Promise<T> {
  const values = (holder[slots] ??= new Map())
  const known = values.get(name) as Promise<T> | undefined
  if (known !== undefined) return known
  const made = create()
  values.set(name, made)
  made.catch(() => values.delete(name))
  return made
}

/** The value if it was asked for before. */
export function madeByProcess<T>(name: string): Promise<T> | undefined {
  return holder[slots]?.get(name) as Promise<T> | undefined
}
