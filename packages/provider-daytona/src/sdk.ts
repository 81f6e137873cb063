import type { Daytona, PtyHandle, Sandbox } from '@daytonaio/sdk'

/** The vendor's client, sandbox and terminal. Nothing outside this file imports the vendor's package. */
export type VendorClient = Daytona
export type VendorSandbox = Sandbox
export type VendorTerminal = PtyHandle
export type VendorCreateInput = NonNullable<Parameters<Daytona['create']>[0]> & {
  image?: string
  snapshot?: string
  resources?: { cpu?: number; memory?: number; disk?: number; gpu?: number }
}

export interface VendorClientInput {
  apiKey: string
  apiUrl: string
  target: string | undefined
  /** The client's own bound for a request, so that a silent service does not hold a closed process. */
  requestTimeoutMs: number
}

/** Loads the vendor's package on first use: it takes a second and a hundred megabytes. */
export async function openVendorClient(input: VendorClientInput): Promise<VendorClient> {
  const { Daytona } = await import('@daytonaio/sdk')
  const { target, ...rest } = input
  return new Daytona({
    ...rest,
    ...(target === undefined ? {} : { target }),
    // Without it the client opens a socket of its own whose timers keep the process alive.
    useDeprecatedPolling: true,
  })
}

/** Lets go of the client's sockets and timers. */
export async function closeVendorClient(client: VendorClient): Promise<void> {
  const dispose: unknown = Reflect.get(client, Reflect.get(Symbol, 'asyncDispose') as symbol)
  if (typeof dispose === 'function') await Reflect.apply(dispose, client, [])
}
