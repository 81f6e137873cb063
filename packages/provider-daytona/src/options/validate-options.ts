import { InvalidInputError, systemClock } from '@holdfast/core/provider'
import { isBlankText, readNumber, readText } from './option-values.ts'
import type { AfterRelease, DaytonaOptions, DaytonaResources, NormalizedDaytonaOptions } from './daytona-options.ts'

const PUBLIC_API_URL = 'https://app.daytona.io/api'
const MAX_TIMEOUT_MS = 86_400_000
const LANGUAGES = ['python', 'typescript', 'javascript'] as const
const AFTER_RELEASE: readonly AfterRelease[] = ['keep', 'stop', 'archive', 'destroy']
const RESOURCE_NAMES = ['cpu', 'memory', 'disk', 'gpu'] as const
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The options as they are used, or everything that is wrong with them. */
export type DaytonaOptionsCheck =
  | { readonly ok: true; readonly options: NormalizedDaytonaOptions }
  | { readonly ok: false; readonly faults: readonly string[] }

/** Checks all options at once: the normalised options, or every fault in words. Never throws. */
export function validateDaytonaOptions(
  options: DaytonaOptions = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): DaytonaOptionsCheck {
  const normalized = normalize(options, env)
  const faults = [...sourceFaults(options, normalized), ...rangeFaults(normalized), ...shapeFaults(options, normalized)]
  return faults.length === 0 ? { ok: true, options: normalized } : { ok: false, faults }
}

/**
 * The normalised options for running, or `INVALID_CONFIGURATION` that names every fault. Unlike validation it accepts
 * resources beside a snapshot, and leaves them out.
 */
export function requireDaytonaOptions(options: DaytonaOptions = {}): NormalizedDaytonaOptions {
  const isSnapshotOnly = readText(options.snapshot) !== undefined && options.image === undefined
  const check = validateDaytonaOptions(isSnapshotOnly ? { ...options, resources: undefined } : options)
  if (check.ok) return check.options
  const message = `The Daytona options cannot be used: ${check.faults.join(' ')}`
  throw new InvalidInputError('INVALID_CONFIGURATION', message, { details: { faults: check.faults } })
}

function normalize(
  options: DaytonaOptions,
  env: Readonly<Record<string, string | undefined>>,
): NormalizedDaytonaOptions {
  return {
    apiKey: readText(options.apiKey) ?? readText(env['DAYTONA_API_KEY']) ?? '',
    apiUrl: readText(options.apiUrl) ?? readText(env['DAYTONA_API_URL']) ?? PUBLIC_API_URL,
    target: readText(options.target) ?? readText(env['DAYTONA_TARGET']),
    image: readText(options.image),
    snapshot: readText(options.snapshot),
    resources: readResources(options.resources),
    language: options.language ?? 'python',
    timeoutMs: readNumber(options.timeoutMs, 300_000),
    livenessTimeoutMs: readNumber(options.livenessTimeoutMs, 30_000),
    autoStopMinutes: Math.floor(readNumber(options.autoStopMinutes, 15)),
    autoArchiveMinutes: Math.floor(readNumber(options.autoArchiveMinutes, 60)),
    autoDeleteMinutes: Math.floor(readNumber(options.autoDeleteMinutes, 10_080)),
    expiresAt: readNumber(options.expiresAt, undefined),
    afterRelease: options.afterRelease ?? 'stop',
    workdir: readText(options.workdir) ?? 'workspace',
    labels: { ...options.labels },
    env: { ...options.env },
    tracer: options.tracer,
    clock: options.clock ?? systemClock,
  }
}

function readResources(resources: DaytonaResources | undefined): DaytonaResources | undefined {
  if (resources === undefined) return undefined
  const given = RESOURCE_NAMES.filter((name) => resources[name] !== undefined)
  if (given.length === 0) return undefined
  return Object.fromEntries(given.map((name) => [name, readNumber(resources[name], Number.NaN)]))
}

function sourceFaults(options: DaytonaOptions, normalized: NormalizedDaytonaOptions): string[] {
  const faults: string[] = []
  if (normalized.apiKey === '') faults.push('No key: set apiKey or DAYTONA_API_KEY.')
  if (!isHttpUrl(normalized.apiUrl)) faults.push('apiUrl is not an http or https URL.')
  if (isBlankText(options.image)) faults.push('image is empty.')
  if (isBlankText(options.snapshot)) faults.push('snapshot is empty.')
  if (normalized.image !== undefined && normalized.snapshot !== undefined) {
    faults.push('image and snapshot are both given; choose one.')
  }
  return faults
}

function rangeFaults(options: NormalizedDaytonaOptions): string[] {
  const faults: string[] = []
  if (options.timeoutMs < 1 || options.timeoutMs > MAX_TIMEOUT_MS) {
    faults.push(`timeoutMs is outside 1 … ${MAX_TIMEOUT_MS}.`)
  }
  if (options.livenessTimeoutMs > MAX_TIMEOUT_MS) faults.push(`livenessTimeoutMs is above ${MAX_TIMEOUT_MS}.`)
  if (options.autoStopMinutes < 0) faults.push('autoStopMinutes is negative.')
  if (options.autoArchiveMinutes < 0) faults.push('autoArchiveMinutes is negative.')
  if (options.autoDeleteMinutes < -1) faults.push('autoDeleteMinutes is below -1.')
  return faults
}

function shapeFaults(options: DaytonaOptions, normalized: NormalizedDaytonaOptions): string[] {
  const faults: string[] = []
  if (normalized.resources !== undefined && normalized.image === undefined) faults.push('resources need an image.')
  for (const name of RESOURCE_NAMES) {
    const value = normalized.resources?.[name]
    if (value !== undefined && !(value > 0)) faults.push(`resources.${name} is not above 0.`)
  }
  if (!LANGUAGES.includes(normalized.language)) faults.push(`language is none of ${LANGUAGES.join(', ')}.`)
  if (!AFTER_RELEASE.includes(normalized.afterRelease)) {
    faults.push(`afterRelease is none of ${AFTER_RELEASE.join(', ')}.`)
  }
  if (Object.keys(options.env ?? {}).some((name) => !ENV_NAME.test(name))) faults.push('env has an unusable name.')
  return faults
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  return ['http:', 'https:'].includes(new URL(text).protocol)
}
