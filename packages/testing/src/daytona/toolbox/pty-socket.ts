import type { WebSocket } from 'ws'
import { WireError } from '../http/wire-error.ts'
import type { Toolbox } from './toolbox.ts'

export interface TerminalRequest {
  id: string
  wantsExit: boolean
  /** Makes the terminal first. */
  create?: { cols: number; rows: number; cwd?: string; envs: Record<string, string> }
}

const ENVS_PREFIX = 'X-Daytona-Pty-Envs~'
const CLOSE_ERROR = 1011

/** Connects a client to a terminal. What goes wrong after the handshake is told in a control message [S]. */
export async function serveTerminal(toolbox: Toolbox, client: WebSocket, request: TerminalRequest): Promise<void> {
  try {
    const { id, create, wantsExit } = request
    const pty = create ? await toolbox.ptys.create({ id, ...create }) : toolbox.ptys.open(id)
    pty.attach(client, wantsExit)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    client.send(JSON.stringify({ type: 'control', status: 'error', error: error.message }))
    client.close(CLOSE_ERROR, JSON.stringify({ error: error instanceof WireError ? error.message : 'failed to start' }))
  }
}

/** Variables travel in a subprotocol token: base64url of a JSON object, without padding [S]. */
export function envsOf(protocols: readonly string[]): Record<string, string> {
  const token = protocols.find((protocol) => protocol.startsWith(ENVS_PREFIX))
  if (token === undefined) return {}
  return JSON.parse(Buffer.from(token.slice(ENVS_PREFIX.length), 'base64url').toString('utf8')) as Record<
    string,
    string
  >
}
