import { ConflictError } from '@holdfast/core/provider-kit'

/** For a sandbox that exists and is not the one that its owner made. */
export function strangerError(sandboxId: string): ConflictError {
  const message = `Sandbox ${sandboxId} carries the mark of another owner or other options; it is left alone.`
  return new ConflictError('SANDBOX_FOREIGN', message, { details: { sandboxId } })
}
