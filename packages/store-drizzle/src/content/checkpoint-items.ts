import { checkpointBlobKeys, decodeJson, encodeExactJson } from '@holdfast/core'
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
    artifacts: checkpoint.artifacts.map(encodeExactJson),
  }
}

export function checkpointContent(
  items: CheckpointItems,
): Pick<SandboxCheckpoint, 'files' | 'conversation' | 'artifacts'> {
  return {
    files: items.files.map(decodeEntry),
    conversation: items.conversation.map((text) => reviveMessage(decodeJson(text, 'message')) as ModelMessage),
    artifacts: items.artifacts.map((text) => decodeJson(text, 'artifact') as CheckpointArtifact),
  }
}

/** The blob keys that the items name, each once. */
export function blobKeysOf(items: Pick<CheckpointItems, 'files' | 'artifacts'>): Set<string> {
  return checkpointBlobKeys(checkpointContent({ ...items, conversation: [] }))
}

/** Arrays without field names: a manifest has thousands of entries. */
function encodeEntry(entry: CheckpointEntry): string {
  if (entry.kind === 'symlink') return JSON.stringify(['link', entry.path, entry.target])
  const mode = entry.mode === undefined ? [] : [entry.mode]
  if (entry.kind === 'dir') return JSON.stringify(['dir', entry.path, ...mode])
  return JSON.stringify(['file', entry.path, entry.blobKey.slice(FILE_KEY_PREFIX.length), entry.size, ...mode])
}

function decodeEntry(text: string): CheckpointEntry {
  const [kind, path, ...rest] = decodeJson(text, 'entry') as [CheckpointEntry['kind'] | 'link', string, ...unknown[]]
  if (kind === 'link') return { path, kind: 'symlink', target: rest[0] as string }
  if (kind === 'dir') return { path, kind, ...modeField(rest[0]) }
  const [hash, size, mode] = rest as [string, number, number?]
  return { path, kind: 'file', blobKey: `${FILE_KEY_PREFIX}${hash}`, size, ...modeField(mode) }
}

function modeField(mode: unknown): { mode?: number } {
  return typeof mode === 'number' ? { mode } : {}
}
