import { isHoldfastError } from '@holdfast/core'
import { telemetry } from './load-telemetry.ts'
import type { SpanAttributes, TelemetryApi, TelemetryContext, TelemetrySpan } from './telemetry-api.ts'

/** `SpanStatusCode.ERROR` of OpenTelemetry. */
const STATUS_ERROR = 2

/**
 * What one host does for a run, as a span with children. It hangs from whatever span is active when the run is claimed,
 * usually the request's. Carries ids of runs, numbers and codes: no words, commands, paths or names.
 */
export class RunTrace {
  readonly #api: TelemetryApi
  readonly #span: TelemetrySpan
  readonly #context: TelemetryContext

  private constructor(api: TelemetryApi, attributes: SpanAttributes) {
    const parent = api.context.active()
    this.#api = api
    this.#span = api.trace.getTracer('holdfast').startSpan('holdfast.run', { attributes }, parent)
    this.#context = api.trace.setSpan(parent, this.#span)
  }

  /** Undefined where the app has no OpenTelemetry. */
  static start(attributes: SpanAttributes): RunTrace | undefined {
    const api = telemetry()
    return api === undefined ? undefined : new RunTrace(api, attributes)
  }

  /** Spans that other libraries start in `work` become children of the run's. */
  within<T>(work: () => T): T {
    return this.#api.context.with(this.#context, work)
  }

  async child<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
    const span = this.#api.trace.getTracer('holdfast').startSpan(name, { attributes }, this.#context)
    try {
      return await this.#api.context.with(this.#api.trace.setSpan(this.#context, span), work)
    } catch (error) {
      span.setStatus({ code: STATUS_ERROR })
      span.setAttribute('holdfast.error_code', isHoldfastError(error) ? error.code : 'unknown')
      throw error
    } finally {
      span.end()
    }
  }

  end(status: string): void {
    this.#span.setAttribute('holdfast.status', status)
    if (status === 'failed' || status === 'lost') this.#span.setStatus({ code: STATUS_ERROR })
    this.#span.end()
  }
}

/** Runs `work` in a child span when there is a trace. */
export function traced<T>(
  trace: RunTrace | undefined,
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return trace === undefined ? work() : trace.child(name, attributes, work)
}
