import type { SpanTracer } from './operation-span.ts'

interface TelemetryApi {
  trace: { getTracer: (name: string) => SpanTracer }
}

/**
 * The tracer of the app's own OpenTelemetry, or undefined where `@opentelemetry/api` is not installed. It does nothing
 * until the app registers a provider, early or late. Never rejects.
 */
export async function defaultTracer(): Promise<SpanTracer | undefined> {
  try {
    // A bundler leaves it alone, for the app's own copy has the exporter; a name in a variable would lose these comments.
    const api: unknown = await import(
      /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@opentelemetry/api'
    )
    return (api as TelemetryApi).trace.getTracer('holdfast')
  } catch (error) {
    if (!isMissing(error)) process.emitWarning('OpenTelemetry could not be loaded; there will be no spans of Daytona.')
    return undefined
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND'
}
