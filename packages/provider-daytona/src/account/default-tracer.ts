import type { SpanTracer } from './operation-span.ts'

interface TelemetryApi {
  trace: { getTracer: (name: string) => SpanTracer }
}

/** In a variable, so that no bundler takes the optional package for a required one. */
const PACKAGE = '@opentelemetry/api'

/**
 * The tracer of the app's own OpenTelemetry, or undefined where `@opentelemetry/api` is not installed. It does nothing
 * until the app registers a provider, early or late. Never rejects.
 */
export async function defaultTracer(): Promise<SpanTracer | undefined> {
  try {
    const { trace } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ PACKAGE)) as TelemetryApi
    return trace.getTracer('holdfast')
  } catch (error) {
    if (!isMissing(error)) process.emitWarning('OpenTelemetry could not be loaded; there will be no spans of Daytona.')
    return undefined
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === 'ERR_MODULE_NOT_FOUND'
}
