/** Where things go that are wrong but stop nothing. `console` fits. */
export interface DefinitionLogger {
  warn: (message: string, cause?: unknown) => void
}
