import { checked } from './api.ts'

export type CheckpointReason = 'automatic' | 'named' | 'fork-root' | 'rewind' | 'before-destroy' | 'failed-run'

export interface CheckpointSummary {
  id: string
  createdAt: number
  reason: CheckpointReason
  label?: string
  fileCount: number
  messageCount: number
  sizes?: { changedFiles?: number }
}

export interface CheckpointPage {
  checkpoints: CheckpointSummary[]
  headId: string | null
  cursor?: string
}

export interface CheckpointFileChange {
  path: string
  change: 'added' | 'removed' | 'changed'
  diff?: string
  truncated?: true
}

export interface CheckpointDiff {
  files: CheckpointFileChange[]
  truncated: boolean
  conversation: { common: number; removed: unknown[]; added: unknown[] }
}

export interface Artifact {
  artifactId: string
  name: string
  mimeType: string
  size: number
  createdAt: number
}

const PAGE = 50
const NONE: CheckpointPage = { checkpoints: [], headId: null }

/** Newest first. A thread that the server does not know yet has none. */
export async function listCheckpoints(threadId: string, cursor?: string): Promise<CheckpointPage> {
  const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
  const response = await fetch(`${pathOf(threadId)}/checkpoints?limit=${PAGE}${after}`)
  return response.status === 404 ? NONE : jsonOf<CheckpointPage>(response)
}

/** Oldest first. */
export async function listArtifacts(threadId: string): Promise<Artifact[]> {
  const response = await fetch(`${pathOf(threadId)}/artifacts`)
  return response.status === 404 ? [] : (await jsonOf<{ artifacts: Artifact[] }>(response)).artifacts
}

export async function saveCheckpoint(threadId: string, label: string): Promise<void> {
  await post(`${pathOf(threadId)}/checkpoints`, label === '' ? {} : { label })
}

export async function compareCheckpoints(threadId: string, from: string, to: string): Promise<CheckpointDiff> {
  const query = `with=${encodeURIComponent(to)}`
  return jsonOf(await fetch(`${checkpointPath(threadId, from)}/diff?${query}`))
}

export async function rewindThread(threadId: string, checkpointId: string): Promise<void> {
  await post(`${checkpointPath(threadId, checkpointId)}/rewind`, {})
}

/** The new thread's id. */
export async function forkThread(threadId: string, checkpointId: string): Promise<string> {
  const fork = await jsonOf<{ threadId: string }>(await post(`${checkpointPath(threadId, checkpointId)}/fork`, {}))
  return fork.threadId
}

export function artifactUrl(threadId: string, artifactId: string): string {
  return `${pathOf(threadId)}/artifacts/${encodeURIComponent(artifactId)}/content`
}

function pathOf(threadId: string): string {
  return `/api/threads/${encodeURIComponent(threadId)}`
}

function checkpointPath(threadId: string, checkpointId: string): string {
  return `${pathOf(threadId)}/checkpoints/${encodeURIComponent(checkpointId)}`
}

async function post(path: string, body: Record<string, string>): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' }
  return checked(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }))
}

async function jsonOf<T>(response: Response): Promise<T> {
  return (await (await checked(response)).json()) as T
}
