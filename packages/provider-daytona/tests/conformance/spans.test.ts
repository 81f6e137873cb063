import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { afterEach, expect, test } from 'vitest'
import { startDaytona } from '../daytona-fixture.ts'

const STATUS_ERROR = 2

afterEach(() => {
  trace.disable()
  context.disable()
})

/** A tracer provider that keeps what ended. The vendor's client has spans of its own, below these. */
interface Recorder {
  provider: BasicTracerProvider
  spans: () => ReadableSpan[]
  vendorSpans: () => ReadableSpan[]
}

function recorder(): Recorder {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const isOwn = ({ name }: ReadableSpan): boolean => name.startsWith('holdfast.')
  const all = (): ReadableSpan[] => exporter.getFinishedSpans()
  return { provider, spans: () => all().filter(isOwn), vendorSpans: () => all().filter((span) => !isOwn(span)) }
}

/** Makes it the app's own, before or after the Daytona provider was made. */
function registered(): Recorder {
  const recording = recorder()
  trace.setGlobalTracerProvider(recording.provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return recording
}

/** All that leaves the process with a span. */
function exported(span: ReadableSpan): string {
  const { name, attributes, events, links, status } = span
  return JSON.stringify({ name, attributes, events, links, status })
}

test('each kind of request is a span with its operation in the name, below the span that is active', async () => {
  const { provider } = await startDaytona()
  const { spans, vendorSpans, provider: tracers } = registered()
  const request = tracers.getTracer('app').startSpan('request')
  await context.with(trace.setSpan(context.active(), request), async () => {
    const sandbox = await provider.create({})
    await sandbox.process.exec('true')
    await sandbox.process.exec('true', { onStdout: () => undefined })
    await sandbox.fs.write('/workspace/file', 'x')
    await sandbox.archive?.pack(['/workspace/file']).then((archive) => archive.cancel())
    await provider.list?.({ labels: {} })
    await sandbox.destroy()
  })
  const names = new Set(spans().map(({ name }) => name))
  const requests = ['sandbox_create', 'sandbox_prepare', 'sandbox_list', 'sandbox_delete']
  const commands = ['exec', 'session_exec', 'session_follow']
  for (const operation of [...requests, ...commands]) expect(names).toContain(`holdfast.daytona.${operation}`)
  for (const span of spans()) {
    expect(span.name).toMatch(/^holdfast\.daytona\.[a-z]+(_[a-z]+)*$/)
    expect(span.parentSpanContext?.spanId).toBe(request.spanContext().spanId)
    expect(span.status.code).not.toBe(STATUS_ERROR)
  }
  expect(vendorSpans().length).toBeGreaterThan(0)
  for (const { parentSpanContext } of vendorSpans())
    expect(parentSpanContext?.spanId).not.toBe(request.spanContext().spanId)
})

test('a span says nothing of commands, files, variables, labels, addresses and credentials', async () => {
  const recording = registered()
  const { server, provider } = await startDaytona({}, { env: { TOKEN: 'secret-variable' } })
  const sandbox = await provider.create({ id: 'secret-key', labels: { app: 'secret-label' }, env: { A: 'secret-env' } })
  await sandbox.process.exec('cat; echo secret-command', { stdin: 'secret-stdin', env: { B: 'secret-own' } })
  await sandbox.process.exec('echo secret-command >&2', { onStderr: () => undefined })
  const spawned = await sandbox.process.spawn('cat')
  await spawned.stdin.write('secret-line\n')
  await spawned.stdin.end()
  await spawned.wait()
  await sandbox.fs.write('/workspace/secret-file', 'secret-content')
  await expect(sandbox.fs.read('/workspace/secret-missing')).rejects.toThrow()
  const { url, token, headers } = await sandbox.ports.connect(4711)
  const grant = await sandbox.access?.grant()
  await sandbox.access?.revoke(grant?.accessId ?? '')
  await sandbox.terminal?.open().then((terminal) => terminal.close())
  await sandbox.destroy()

  const said = recording.spans().map(exported).join('\n')
  expect(recording.spans().length).toBeGreaterThan(10)
  expect(said).not.toContain('secret')
  const own = [
    server.apiKey,
    server.organizationId,
    server.url,
    sandbox.id,
    url,
    token,
    ...Object.values(headers ?? {}),
  ]
  const granted = [grant?.accessId, ...(grant?.command.split(' ') ?? [])]
  for (const text of [...own, ...granted]) if (text !== undefined && text.length > 4) expect(said).not.toContain(text)
})

test('a request that fails marks its span and gives the code alone', async () => {
  const recording = registered()
  const { server, provider } = await startDaytona()
  const body = { message: 'secret-reason', code: 'SECRET', source: 'DAYTONA_API' }
  server.setFault({ on: 'POST /sandbox', effect: { kind: 'status', status: 403, body }, times: 9 })
  await expect(provider.create({})).rejects.toMatchObject({ code: 'PROVIDER_REFUSED' })
  const failed = recording.spans().filter(({ status }) => status.code === STATUS_ERROR)
  expect(failed.map(({ name, attributes }) => ({ name, attributes }))).toEqual([
    { name: 'holdfast.daytona.sandbox_create', attributes: { 'holdfast.error_code': 'PROVIDER_REFUSED' } },
  ])
  expect(failed.map(({ status, events }) => ({ message: status.message, events }))).toEqual([
    { message: undefined, events: [] },
  ])
  expect(recording.spans().map(exported).join('\n')).not.toMatch(/secret/i)
})

test('requests that were sent again are one span, which has failed only if all of them did', async () => {
  const recording = registered()
  const { server, provider } = await startDaytona()
  const sandbox = await provider.create({})
  const before = recording.spans().length
  server.setFault({ on: 'POST /process/execute', effect: { kind: 'status', status: 503 }, times: 2 })
  await sandbox.process.exec('true')
  const since = recording.spans().slice(before)
  expect(since.map(({ name, status }) => [name, status.code])).toEqual([['holdfast.daytona.exec', 0]])
})

test('a tracer of the options takes the place of the app’s own', async () => {
  const app = registered()
  const own = recorder()
  const { provider } = await startDaytona({}, { tracer: own.provider.getTracer('own') })
  await provider.resume({ id: 'none' })
  expect(own.spans().map(({ name }) => name)).toContain('holdfast.daytona.sandbox_read')
  expect(app.spans()).toEqual([])
})

test('an app that registers its OpenTelemetry late gets spans from then on', async () => {
  const { provider } = await startDaytona()
  expect(await provider.resume({ id: 'none' })).toBeNull()
  const late = registered()
  expect(await provider.resume({ id: 'none' })).toBeNull()
  expect(late.spans().map(({ name }) => name)).toContain('holdfast.daytona.sandbox_read')
})
