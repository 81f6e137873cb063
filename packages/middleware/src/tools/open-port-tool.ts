import { z } from 'zod'
import { decideCapability } from '../policy/decide-capability.ts'
import { defineSandboxTool } from './sandbox-tool.ts'

/** Gives the address of a port. Its token stays on the host: a model has no use for it, and its words are stored. */
export const openPortTool = defineSandboxTool({
  name: 'open_port',
  description:
    'Gives the address under which a server that listens on a port of the sandbox can be reached from outside.',
  inputSchema: z.object({ port: z.number().int().min(1).max(65_535) }),
  decide: (_input, { policy }) => decideCapability(policy, 'network'),
  describe: ({ port }) => `Open port ${port}`,
  async run({ port }, { handle }) {
    const { url, token, headers } = await handle.ports.connect(port)
    return { port, url, ...((token ?? headers) !== undefined && { needsToken: true }) }
  },
})
