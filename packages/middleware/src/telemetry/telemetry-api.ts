/** The parts of `@opentelemetry/api` that are used, so that the package type-checks where that is not installed. */

export type SpanAttributes = Record<string, string | number | boolean>

export interface TelemetrySpan {
  setAttribute: (name: string, value: string | number | boolean) => unknown
  setStatus: (status: { code: number }) => unknown
  end: () => void
}

/** Opaque: what a span hangs from. */
export type TelemetryContext = object

interface Tracer {
  startSpan: (name: string, options: { attributes: SpanAttributes }, parent: TelemetryContext) => TelemetrySpan
}

interface Meter {
  createCounter: (name: string, options: { description: string }) => Counter
}

export interface Counter {
  add: (amount: number, attributes: SpanAttributes) => void
}

export interface TelemetryApi {
  trace: {
    getTracer: (name: string) => Tracer
    setSpan: (context: TelemetryContext, span: TelemetrySpan) => TelemetryContext
  }
  context: {
    active: () => TelemetryContext
    with: <T>(context: TelemetryContext, work: () => T) => T
  }
  metrics: {
    getMeterProvider: () => object
    getMeter: (name: string) => Meter
  }
}
