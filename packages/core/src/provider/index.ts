// What a provider needs when its package is imported. The rest of the provider kit can wait for the first sandbox.
export { sleep, systemClock } from '../clock.ts'
export {
  CancelledError,
  ConflictError,
  CorruptDataError,
  InvalidInputError,
  NotFoundError,
  ProviderError,
  RefusedError,
  UnsupportedError,
} from '../errors/error-classes.ts'
export { HoldfastError, isHoldfastError } from '../errors/holdfast-error.ts'
export { defineSandboxProvider } from '../sandbox/define-sandbox-provider.ts'
