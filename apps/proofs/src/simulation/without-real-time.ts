/**
 * Runs `work` in a process where nothing but the simulated clock makes time pass, and without warnings of what goes wrong
 * on purpose. The engine looks every 10 ms whether a tool has said something; here it is simply told when the tool ends.
 */
export async function withoutRealTime<T>(work: () => Promise<T>): Promise<T> {
  const { setTimeout } = globalThis
  const emitWarning = process.emitWarning.bind(process)
  const { warn, error, log, dir } = console
  const idle = { unref: () => idle, ref: () => idle, hasRef: () => false }
  globalThis.setTimeout = (() => idle) as unknown as typeof setTimeout
  process.emitWarning = () => undefined
  for (const name of ['warn', 'error', 'log', 'dir'] as const) console[name] = () => undefined
  try {
    return await work()
  } finally {
    globalThis.setTimeout = setTimeout
    process.emitWarning = emitWarning
    Object.assign(console, { warn, error, log, dir })
  }
}
