import type { SecretRef } from '@holdfast/core'

/** A reference that stands for `Bearer <value>`, for a header. */
export interface BearerSecretRef extends SecretRef {
  readonly scheme: 'Bearer'
}

/** `Bearer <value>` for a header, still as a reference. */
export function bearer(ref: SecretRef): BearerSecretRef {
  return Object.freeze({ secretName: ref.secretName, scheme: 'Bearer' as const })
}

/** `text` around the secret as a header needs it: the scheme, where the reference has one, and then `value`. */
export function withScheme(ref: SecretRef, value: string): string {
  return 'scheme' in ref && ref.scheme === 'Bearer' ? `Bearer ${value}` : value
}
