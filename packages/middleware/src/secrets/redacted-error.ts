import { inspect } from 'node:util'
import type { SecretRedactor } from './secret-redactor.ts'

/** As deep as a log shows an error. */
const SHOWN = { depth: 12, maxStringLength: null, maxArrayLength: null, showHidden: true } as const
const MAX_CAUSES = 16
const MAX_DEPTH = 8

/**
 * The error for logs, rows and callers: the same one when it shows no secret, else a copy of its class without them. What is
 * attached to it and is no plain data may hold anything, so the copy lacks it.
 */
export function redactedError(redactor: SecretRedactor | undefined, error: unknown): unknown {
  if (redactor === undefined || redactor.isEmpty || !showsSecret(redactor, error)) return error
  return redacted(redactor, error, MAX_CAUSES)
}

/** Rejects as the work does, but for secrets. */
export async function withoutSecrets<T>(redactor: SecretRedactor | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw redactedError(redactor, error)
  }
}

/** The same methods, groups of them included, whose failures show no secret. */
export function failingWithoutSecrets<T extends object>(redactor: SecretRedactor, target: T): T {
  const members = Object.entries(target).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [name, failingWithoutSecrets(redactor, value as object)] as const
    const call = (...args: unknown[]): Promise<unknown> =>
      withoutSecrets(redactor, async () => (await Reflect.apply(value, target, args)) as unknown)
    return [name, call] as const
  })
  return Object.fromEntries(members) as T
}

function showsSecret(redactor: SecretRedactor, error: unknown): boolean {
  // Where a log escapes characters, the plain text is looked at too.
  const plain = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
  return redactor.hasSecret(plain) || redactor.hasSecret(inspect(error, SHOWN))
}

function redacted(redactor: SecretRedactor, error: unknown, causes: number): unknown {
  if (!(error instanceof Error)) return redactor.json(plainData(error, MAX_DEPTH))
  const copy = new Error(redactor.text(error.message))
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object)
  for (const key of Reflect.ownKeys(error)) {
    if (key === 'message') continue
    const { enumerable = false } = Object.getOwnPropertyDescriptor(error, key) ?? {}
    const value = member(redactor, Reflect.get(error, key), causes - 1)
    Object.defineProperty(copy, key, { value, enumerable, configurable: true, writable: true })
  }
  return copy
}

function member(redactor: SecretRedactor, value: unknown, causes: number): unknown {
  if (causes <= 0) return undefined
  if (value instanceof Error) return redacted(redactor, value, causes)
  if (Array.isArray(value)) return value.map((item: unknown) => member(redactor, item, causes - 1))
  return redactor.json(plainData(value, MAX_DEPTH))
}

/** Undefined in the place of what is no plain data. */
function plainData(value: unknown, depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return undefined
  if (Array.isArray(value)) return value.map((item) => plainData(item, depth - 1))
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainData(item, depth - 1)]))
}
