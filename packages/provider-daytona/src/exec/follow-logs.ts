import type { LiveSandbox } from '../lease/live-sandbox.ts'
import type { SessionRun } from './start-in-session.ts'

/** The script says at once that it begins, and gives a sign of life every few seconds. */
const MAX_FIRST_SILENCE_MS = 8_000
const MAX_SILENCE_MS = 30_000
/** What the client still holds when a stream breaks off is shorter than this; anything longer is a message. */
const MIN_MESSAGE = 5

/**
 * Reads the log stream of a command until `onText` says that no more is wanted, the stream ends, breaks or goes silent, or
 * `signal` aborts. How it ended is not told: the client resolves for a cut stream as for a whole one. The client has no
 * call that closes the socket, but closes it when a listener throws; so the first message that nobody wants ends it.
 */
export function followLogs(
  live: LiveSandbox,
  run: SessionRun,
  signal: AbortSignal,
  onText: (text: string) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false
    let cancelSilence = live.account.clock.schedule(MAX_FIRST_SILENCE_MS, () => finish())
    const finish = (error?: unknown): void => {
      if (isOver) return
      isOver = true
      cancelSilence()
      signal.removeEventListener('abort', onAbort)
      if (error === undefined) resolve()
      else reject(error as Error)
    }
    const onAbort = (): void => finish()
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) return finish()

    const hear = (text: string): void => {
      if (isOver) return closeSocket(text)
      live.touch()
      cancelSilence()
      cancelSilence = live.account.clock.schedule(MAX_SILENCE_MS, () => finish())
      try {
        if (onText(text)) finish()
      } catch (error) {
        finish(error)
      }
      if (isOver) closeSocket(text)
    }
    const { sessionId } = run.session
    live.vendor.process
      // The client takes a line for the other output when a message ends within its marker.
      .getSessionCommandLogs(sessionId, run.commandId, hear, hear)
      .then(
        () => finish(),
        // A refused handshake: the caller asks in another way and learns why.
        () => finish(),
      )
  })
}

function closeSocket(text: string): void {
  if (text.length >= MIN_MESSAGE) throw new Error('This stream is not read any more.')
}
