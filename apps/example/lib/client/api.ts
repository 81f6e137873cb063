/** What the server said in `{error: {code, message}}`. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number

  constructor(code: string, message: string, status: number) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = status
  }
}

export interface RunSummary {
  runId: string
  threadId: string
  status: 'running' | 'interrupted' | 'completed' | 'failed' | 'aborted'
  startedAt: number
  finishedAt?: number
  detachedSince?: number
  error?: { message: string; code?: string }
}

export interface ThreadSummary {
  threadId: string
  title?: string
  updatedAt: number
}

export interface FileEntry {
  path: string
  type: 'file' | 'dir'
}

export interface HealthCheck {
  name: string
  ok: boolean
  reason?: string
}

export interface Health {
  ok: boolean
  store: HealthCheck
  provider: HealthCheck
  model: HealthCheck
}

const enc = encodeURIComponent

export async function listThreads(): Promise<ThreadSummary[]> {
  const { threads } = await readJson<{ threads: ThreadSummary[] }>('/api/threads?limit=200')
  return threads
}

/** The run that is active or was last; null for a thread that does not exist yet. */
export async function latestRun(threadId: string): Promise<RunSummary | null> {
  const response = await fetch(`/api/threads/${enc(threadId)}`)
  if (response.status === 404) return null
  const { latestRun: run } = (await checked(response).then((ok) => ok.json())) as { latestRun: RunSummary | null }
  return run
}

export async function listRuns(): Promise<RunSummary[]> {
  const { runs } = await readJson<{ runs: RunSummary[] }>('/api/runs?limit=100')
  return runs
}

/** Asks the run to end. Its sandbox and files stay. */
export async function cancelRun(runId: string): Promise<void> {
  const body = JSON.stringify({ keepSandbox: true })
  const headers = { 'Content-Type': 'application/json' }
  await checked(await fetch(`/api/runs/${enc(runId)}/cancel`, { method: 'POST', headers, body }))
}

export async function deleteThread(threadId: string): Promise<void> {
  await checked(await fetch(`/api/threads/${enc(threadId)}`, { method: 'DELETE' }))
}

export async function listFiles(threadId: string): Promise<{ files: FileEntry[]; truncated: boolean }> {
  const response = await fetch(`/api/threads/${enc(threadId)}/files`)
  if (response.status === 404) return { files: [], truncated: false }
  return (await checked(response).then((ok) => ok.json())) as { files: FileEntry[]; truncated: boolean }
}

export function fileUrl(threadId: string, path: string): string {
  return `/api/threads/${enc(threadId)}/files/content?path=${enc(path)}`
}

export async function readFile(threadId: string, path: string): Promise<Uint8Array> {
  const response = await checked(await fetch(fileUrl(threadId, path)))
  return new Uint8Array(await response.arrayBuffer())
}

/** Answers also when something does not work: that is what it is for. */
export async function readHealth(): Promise<Health> {
  const response = await fetch('/api/health')
  const body = (await response.json()) as Health | { error: unknown }
  if ('error' in body) throw await failureOf(Response.json(body, { status: response.status }))
  return body
}

async function readJson<T>(path: string): Promise<T> {
  const response = await checked(await fetch(path))
  return (await response.json()) as T
}

/** The response if it is a success, else its `ApiError`. */
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response
  throw await failureOf(response)
}

async function failureOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null)
  const error: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'error') : undefined
  const { code, message } = (error ?? {}) as { code?: string; message?: string }
  const fallback = `The server answered ${response.status}.`
  return new ApiError(code ?? 'HTTP_ERROR', message ?? fallback, response.status)
}

/** What to show a person for any failure of a request. */
export function messageOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof ApiError ? error.cause : error
  if (cause instanceof ApiError) return cause.message
  if (isNetworkFailure(error)) return 'The server cannot be reached. Check that it runs, then try again.'
  return error instanceof Error ? error.message : 'Something went wrong.'
}

export function apiErrorOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  return error instanceof Error && error.cause instanceof ApiError ? error.cause : undefined
}

function isNetworkFailure(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.cause instanceof TypeError)
}
