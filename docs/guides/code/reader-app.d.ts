// What the reader of a guide has by then, for blocks that show a part of a file.
import type {
  HoldfastStores,
  SandboxBackendHandle,
  SandboxCapabilities,
  SandboxCreateInput,
  SandboxHandle,
  SandboxProvider,
} from '@holdfast/core'
import type { SandboxDefinition } from '@holdfast/middleware'
import type { AnyTextAdapter } from '@tanstack/ai'

declare global {
  const stores: HoldfastStores
  const provider: SandboxProvider
  const sandbox: SandboxDefinition
  const handle: SandboxHandle
  const adapter: AnyTextAdapter
  const request: Request
  const threadId: string
  const runId: string
  const myProvider: () => SandboxProvider
  /** Brings the reader's own schema up to date. */
  const migrate: (url: string) => Promise<void>
  /** A client of the service that a provider is written for. */
  const service: {
    capabilities: SandboxCapabilities
    create: (input: SandboxCreateInput) => Promise<SandboxBackendHandle>
    find: (id: string) => Promise<SandboxBackendHandle | null>
    delete: (id: string) => Promise<void>
    isNotFound: (error: unknown) => boolean
  }
  /** The reader's own session check. */
  const sessionOf: (request: Request) => Promise<{ userId: string; isAdmin: boolean } | null>
}
