const slots = Symbol.for('holdfast.example.per-process')
const holder = globalThis as { [slots]?: Map<string, unknown> }

/** One value for the whole process, however often a bundler copies or reloads this module. */
export function perProcess<T>(name: string, create: () => T): T {
  const values = (holder[slots] ??= new Map())
  if (!values.has(name)) values.set(name, create())
  return values.get(name) as T
}
