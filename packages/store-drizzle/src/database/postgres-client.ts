/**
 * A client of postgres.js, as far as an app hands one over. Spelled out here, so that the package type-checks where
 * postgres.js is not installed.
 */
export interface PostgresClient {
  (template: TemplateStringsArray, ...values: never[]): PromiseLike<unknown>
  readonly options: object
  unsafe: (query: string, values?: never[], options?: never) => PromiseLike<unknown>
  listen: (channel: string, onNotify: (payload: string) => void) => PromiseLike<unknown>
  end: (options?: { timeout?: number }) => Promise<void>
}
