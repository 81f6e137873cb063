// @ts-check
// Every call of a host's stores and provider is a point at which the host can die, as SIGKILL does it.

/** @typedef {{ call: number, when: 'before' | 'after', as?: 'SIGKILL' | 'SIGSTOP' }} Crash */

/** Timers make these, whenever they fire; they are no points of the work. */
const UNCOUNTED = new Set(['drivers.renew', 'drivers.onCancel', 'writer.renew'])

/** Answer at once and do nothing outside of the process. */
const SILENT = new Set(['capabilities'])

const STORES = /** @type {const} */ ([
  'runs',
  'drivers',
  'eventLog',
  'instances',
  'threads',
  'messages',
  'metadata',
  'locks',
  'checkpoints',
  'blobs',
  'artifacts',
])

export class CallPoints {
  /** Names of the calls, in their order. @type {string[]} */
  calls = []
  /** @type {Crash | undefined} */
  #crash

  /** @param {Crash | undefined} crash */
  constructor(crash) {
    this.#crash = crash
  }

  /**
   * @param {import('@holdfast/core').HoldfastStores} stores
   * @returns {import('@holdfast/core').HoldfastStores}
   */
  ofStores(stores) {
    const watched = STORES.map((name) => [name, this.of(name, stores[name])])
    return { ...stores, ...Object.fromEntries(watched) }
  }

  /**
   * The same object, each of whose calls is a point.
   * @template {object} T
   * @param {string} name
   * @param {T} target
   * @param {readonly string[]} [nested] groups whose calls are points too
   * @returns {T}
   */
  of(name, target, nested = []) {
    return new Proxy(target, {
      get: (object, key) => {
        const value = Reflect.get(object, key)
        if (typeof key === 'string' && nested.includes(key) && value !== null && typeof value === 'object') {
          return this.of(`${name}.${key}`, value)
        }
        if (typeof value !== 'function' || typeof key !== 'string') return value
        if (SILENT.has(key)) return value.bind(object)
        if (name === 'eventLog' && key === 'open') return this.#log(value.bind(object))
        return (/** @type {unknown[]} */ ...args) =>
          this.#point(`${name}.${key}`, async () => this.#result(await value.apply(object, args)))
      },
    })
  }

  /**
   * @template T
   * @param {string} name
   * @param {() => Promise<T>} work
   */
  async #point(name, work) {
    if (UNCOUNTED.has(name)) return work()
    const call = this.calls.push(name)
    this.#dieAt(call, 'before')
    try {
      return await work()
    } finally {
      this.#dieAt(call, 'after')
    }
  }

  #dieAt(/** @type {number} */ call, /** @type {'before' | 'after'} */ when) {
    const crash = this.#crash
    if (crash === undefined || crash.call !== call || crash.when !== when) return
    process.kill(process.pid, crash.as ?? 'SIGKILL')
  }

  /** What a call hands out for further calls is watched too: a sandbox, the lease of a writer. */
  #result(/** @type {any} */ result) {
    if (result === null || typeof result !== 'object') return result
    if ('fs' in result && 'process' in result) return this.of('sandbox', result, ['fs', 'process', 'env', 'archive'])
    if ('renewAfterMs' in result && 'release' in result) return this.of('writer', result)
    return result
  }

  /**
   * @param {(input: { runId: string, epoch?: number }) => import('@holdfast/core').EventLog} open
   * @returns {(input: { runId: string, epoch?: number }) => import('@holdfast/core').EventLog}
   */
  #log(open) {
    return (input) => {
      const log = open(input)
      return {
        runId: log.runId,
        resumeFrom: () => log.resumeFrom(),
        append: (chunks) => this.#point('log.append', () => log.append(chunks)),
        close: () => this.#point('log.close', () => log.close()),
        snapshot: () => this.#point('log.snapshot', () => log.snapshot()),
        read: (offset, signal) => log.read(offset, signal),
      }
    }
  }
}
