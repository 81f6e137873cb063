import { canonicalHash } from './canonical-json.ts'

/** Names of the labels that every sandbox of ours carries at its service. */
export const SANDBOX_LABEL = {
  /** Always `1`: what a sweep lists by. */
  marker: 'holdfast',
  key: 'holdfast.key',
  /** A hash, because a thread's id may say something about a person. */
  thread: 'holdfast.thread',
  app: 'holdfast.app',
} as const

export interface SandboxLabelInput {
  key: string
  threadId: string
  appId: string
}

/** The same for every try with one key, because adoption compares them. */
export function sandboxLabels(input: SandboxLabelInput): Record<string, string> {
  return {
    [SANDBOX_LABEL.marker]: '1',
    [SANDBOX_LABEL.key]: input.key,
    [SANDBOX_LABEL.thread]: canonicalHash(input.threadId).slice(0, 32),
    [SANDBOX_LABEL.app]: input.appId,
  }
}
