/** For failures that must not change the outcome of a run, and must not vanish either. */
export function reportSandboxFailure(what: string, error: unknown): void {
  process.emitWarning(what, {
    code: 'HOLDFAST_SANDBOX',
    detail: error instanceof Error ? error.message : String(error),
  })
}
