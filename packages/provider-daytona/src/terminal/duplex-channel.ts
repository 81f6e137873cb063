import { ChunkQueue, ConflictError, InvalidInputError } from '@holdfast/core/provider-kit'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { openTerminal } from './open-terminal.ts'

/** The command at the other end of a channel. */
export interface DuplexChannelInput {
  /** Both ends' ids; they address the channel as a pair. */
  hostId: string
  workerId: string
  /** The program at the other end: it reads and writes raw bytes on its standard streams. */
  command: string
  cwd?: string
  env?: Record<string, string>
}

/** How a channel ended: its program did, the connection was lost, or this side closed it. */
export type ChannelEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'transport-lost' }
  | { readonly kind: 'closed' }

/** Raw bytes both ways. */
export interface DuplexChannel {
  readonly hostId: string
  readonly workerId: string
  readonly output: AsyncIterable<Uint8Array>
  /** Rejects, and writes nothing, for another pair of ids or for data that is no bytes. */
  write: (pair: { hostId: string; workerId: string }, data: Uint8Array) => Promise<void>
  readonly ended: Promise<ChannelEnd>
  /** Ends the program. Repeatable. */
  close: () => Promise<void>
}

/** Opens a channel on a raw terminal. It ends with its lease. */
export async function openDuplexChannel(live: LiveSandbox, input: DuplexChannelInput): Promise<DuplexChannel> {
  const { hostId, workerId, command, cwd, env } = input
  if (hostId === '' || workerId === '') throw new InvalidInputError('INVALID_ARGUMENT', 'A channel needs both ids.')
  const terminal = await openTerminal(live, {
    command,
    isRaw: true,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  })
  let isClosed = false
  const output = new ChunkQueue<Uint8Array>()
  const pumped = (async () => {
    for await (const bytes of terminal.output) output.push(bytes)
    output.end()
  })()
  const ended = terminal.exited.then(async (exitCode): Promise<ChannelEnd> => {
    await pumped
    if (isClosed) return { kind: 'closed' }
    return exitCode === null ? { kind: 'transport-lost' } : { kind: 'exited', exitCode }
  })
  ended.catch(() => undefined)
  return {
    hostId,
    workerId,
    output,
    ended,
    write: async (pair, data) => {
      if (pair.hostId !== hostId || pair.workerId !== workerId) {
        throw new ConflictError('INVALID_ID', 'This channel connects another pair; nothing was written.')
      }
      if (!(data instanceof Uint8Array)) throw new InvalidInputError('INVALID_ARGUMENT', 'A channel takes bytes.')
      await terminal.write(data)
    },
    close: async () => {
      if (isClosed) return
      isClosed = true
      try {
        await terminal.kill()
      } finally {
        await terminal.close()
      }
    },
  }
}
