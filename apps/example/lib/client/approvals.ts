/** A tool call that waits for a person, as the server describes it. */
export interface Approval {
  callId: string
  toolName: string
  /** The command, or what would be done. */
  action: string
  /** The pattern of the policy that asks, where one does. */
  rule?: string
  /** What the person has decided, while another call of the same turn is not decided yet. */
  decision?: boolean
}

/** What the page's pauses ask about, by tool call. */
export interface Approvals {
  byCall: ReadonlyMap<string, Approval>
  /** The answer is on its way. */
  isSending: boolean
  decide: (callId: string, isApproved: boolean) => void
}

/** The part of TanStack's interrupt that says what it is about. */
interface DescribedPause {
  metadata?: Readonly<Record<string, unknown>>
}

const PAYLOAD = 'tanstack:interruptPayload'

/** Undefined for a pause that is not about a tool call of the sandbox. */
export function approvalOf(pause: DescribedPause): Approval | undefined {
  const { toolCallId, toolName, action, rule } = asObject(pause.metadata?.[PAYLOAD])
  if (typeof toolCallId !== 'string' || typeof toolName !== 'string' || typeof action !== 'string') return undefined
  return { callId: toolCallId, toolName, action, ...(typeof rule === 'string' ? { rule } : {}) }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
