import { telemetry } from './load-telemetry.ts'
import type { Counter, SpanAttributes } from './telemetry-api.ts'

/** The counters and what they count. */
const COUNTERS = {
  'holdfast.runs': 'Runs that ended on this host, by status',
  'holdfast.takeovers': 'Runs that this host continued after another one died',
  'holdfast.drivers.lost': 'Runs whose further writes by this host the store refuses',
  'holdfast.reaps': 'Runs that a reap looked after, by outcome',
  'holdfast.reclaims': 'Sandboxes that should not exist any more, by outcome',
} as const

export type CounterName = keyof typeof COUNTERS

/** By meter provider, because an app may set its own one late. */
const counters = new WeakMap<object, Map<CounterName, Counter>>()

/** Counts one more. Nothing happens where the app has no OpenTelemetry. */
export function count(name: CounterName, attributes: SpanAttributes = {}): void {
  const api = telemetry()
  if (api === undefined) return
  const provider = api.metrics.getMeterProvider()
  const known = counters.get(provider) ?? new Map<CounterName, Counter>()
  counters.set(provider, known)
  const counter =
    known.get(name) ?? api.metrics.getMeter('holdfast').createCounter(name, { description: COUNTERS[name] })
  known.set(name, counter)
  counter.add(1, attributes)
}
