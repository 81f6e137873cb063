import { defineInterrupt } from '@tanstack/ai'
import { z } from 'zod'

/** What a person sees when the policy asks. */
export const sandboxApprovalPayload = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  /** The command, or what would be done. */
  action: z.string(),
  /** The pattern of the policy that asks about the command, where one does. */
  rule: z.string().optional(),
})

/** What a person answers. */
export const sandboxApprovalResponse = z.object({
  approved: z.boolean(),
  /** For the model, when the answer is no. */
  reason: z.string().max(2_000).optional(),
})

/**
 * The pause in which a person decides about a tool call that the policy asks about. To be registered on the chat:
 * `chat({ interrupts: [sandboxApproval] })`. Its key is the tool call's id.
 */
export const sandboxApproval = defineInterrupt({
  id: 'holdfast.sandbox-approval',
  payloadSchema: sandboxApprovalPayload,
  responseSchema: sandboxApprovalResponse,
})
