/** The part of an OpenTelemetry span that is used here. */
export interface OperationSpan {
  setAttribute: (name: string, value: string | number | boolean) => unknown
  setStatus: (status: { code: number }) => unknown
  end: () => void
}

/** The part of an OpenTelemetry tracer that is used here, so that the package needs no import of it. */
export interface SpanTracer {
  startActiveSpan: <T>(name: string, work: (span: OperationSpan) => T) => T
}

/** `SpanStatusCode.ERROR` of OpenTelemetry. */
const STATUS_ERROR = 2

/**
 * Runs `work` in a span `holdfast.daytona.<operation>`, which is the active one meanwhile. A span never carries a
 * command, a path, a variable or an id that grants access; of a failure it carries the code alone.
 */
export function inSpan<T>(tracer: SpanTracer | undefined, operation: string, work: () => Promise<T>): Promise<T> {
  if (tracer === undefined) return work()
  return tracer.startActiveSpan(`holdfast.daytona.${operation.replaceAll(' ', '_')}`, async (span) => {
    try {
      return await work()
    } catch (error) {
      span.setStatus({ code: STATUS_ERROR })
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
      span.setAttribute('holdfast.error_code', typeof code === 'string' ? code : 'unknown')
      throw error
    } finally {
      span.end()
    }
  })
}
