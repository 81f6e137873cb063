import { checkpointBlobKeys, decodeJson } from '@holdfast/core'
import type { CheckpointArtifact, CheckpointEntry, SandboxCheckpoint } from '@holdfast/core'
import type { ModelMessage } from '@tanstack/ai'
import { encodeMessage, reviveMessage } from '../threads/message-json.ts'

/** The three lists of a checkpoint, each item as one JSON text. */
export interface CheckpointItems {
  files: string[]
  conversation: string[]
  artifacts: string[]
}

const FILE_KEY_PREFIX = 'sandbox-files/sha256/'

export function checkpointItems(checkpoint: SandboxCheckpoint): CheckpointItems {
  return {
    files: checkpoint.files.map(encodeEntry),
    conversation: checkpoint.conversation.map(encodeMessage),
    artifacts: checkpoint.artifacts.map(encodeArtifact),
  }
}

export function checkpointContent(
  items: CheckpointItems,
): Pick<SandboxCheckpoint, 'files' | 'conversation' | 'artifacts'> {
  return {
    files: items.files.map(decodeEntry),
    conversation: items.conversation.map((text) => reviveMessage(decodeJson(text, 'message')) as ModelMessage),
    artifacts: items.artifacts.map(decodeArtifact),
  }
}

/** The blob keys that the items name, each once. */
export function blobKeysOf(items: Pick<CheckpointItems, 'files' | 'artifacts'>): Set<string> {
  return checkpointBlobKeys(checkpointContent({ ...items, conversation: [] }))
}

/**
 * Arrays without field names: a manifest has thousands of entries. The database reads kind and hash out of them, so text
 * that may hold what its own text cannot, as a NUL, is written as JSON inside JSON.
 */
function encodeEntry(entry: CheckpointEntry): string {
  if (entry.kind === 'symlink') return JSON.stringify(['link', entry.path, JSON.stringify(entry.target)])
  const mode = entry.mode === undefined ? [] : [entry.mode]
  if (entry.kind === 'dir') return JSON.stringify(['dir', entry.path, ...mode])
  return JSON.stringify(['file', entry.path, entry.blobKey.slice(FILE_KEY_PREFIX.length), entry.size, ...mode])
}

function decodeEntry(text: string): CheckpointEntry {
  const [kind, path, ...rest] = decodeJson(text, 'entry') as [CheckpointEntry['kind'] | 'link', string, ...unknown[]]
  if (kind === 'link') return { path, kind: 'symlink', target: decodeJson(rest[0] as string, 'link') as string }
  if (kind === 'dir') return { path, kind, ...modeField(rest[0]) }
  const [hash, size, mode] = rest as [string, number, number?]
  return { path, kind: 'file', blobKey: `${FILE_KEY_PREFIX}${hash}`, size, ...modeField(mode) }
}

function encodeArtifact({ artifactId, name, mimeType, size, blobKey, createdAt }: CheckpointArtifact): string {
  return JSON.stringify(['artifact', artifactId, blobKey, size, createdAt, JSON.stringify({ name, mimeType })])
}

function decodeArtifact(text: string): CheckpointArtifact {
  type Item = ['artifact', string, string, number, number, string]
  const [, artifactId, blobKey, size, createdAt, names] = decodeJson(text, 'artifact') as Item
  const { name, mimeType } = decodeJson(names, 'artifact') as Pick<CheckpointArtifact, 'name' | 'mimeType'>
  return { artifactId, name, mimeType, size, blobKey, createdAt }
}

function modeField(mode: unknown): { mode?: number } {
  return typeof mode === 'number' ? { mode } : {}
}
