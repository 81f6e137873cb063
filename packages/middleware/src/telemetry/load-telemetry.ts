import type { TelemetryApi } from './telemetry-api.ts'

let loading: Promise<TelemetryApi | undefined> | undefined
let loaded: TelemetryApi | undefined

/**
 * `@opentelemetry/api` where the app has it, else undefined. Never rejects. Only what has no time to lose goes on without
 * waiting for it.
 */
export function loadTelemetry(): Promise<TelemetryApi | undefined> {
  loading ??= importTelemetry()
  return loading
}

/** The same without waiting: undefined until it has been loaded. */
export function telemetry(): TelemetryApi | undefined {
  return loaded
}

async function importTelemetry(): Promise<TelemetryApi | undefined> {
  try {
    // A bundler leaves it alone, for the app's own copy has the exporter; a name in a variable would lose these comments.
    const api: unknown = await import(
      /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@opentelemetry/api'
    )
    loaded = api as TelemetryApi
  } catch (error) {
    if (!isMissing(error)) process.emitWarning('OpenTelemetry could not be loaded; there will be no traces.')
  }
  return loaded
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND'
}
