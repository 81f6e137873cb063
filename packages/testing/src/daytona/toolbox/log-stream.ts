import type { WebSocket } from 'ws'
import type { SessionCommand } from './session-command.ts'
import type { ShellSession } from './shell-session.ts'
import type { Toolbox } from './toolbox.ts'

const MAX_FRAME_BYTES = 1_024
const CLOSE_NORMAL = 1000

/**
 * Sends a command's log from byte 0 in binary frames that are cut anywhere, then what is added. Closes with 1000 after
 * a silence in which the exit code was found, or when the session is deleted. Never, when the shell died [D190].
 */
export function followLog(toolbox: Toolbox, session: ShellSession, command: SessionCommand, socket: WebSocket): void {
  let offset = 0
  let timer: NodeJS.Timeout | undefined
  const stopListening = command.log.onAppend(pump)
  const onGone = (): void => socket.terminate()
  const onDeleted = (): void => socket.close(CLOSE_NORMAL)
  toolbox.closing.addEventListener('abort', onGone, { once: true })
  session.ending.addEventListener('abort', onDeleted, { once: true })
  socket.once('close', () => {
    clearTimeout(timer)
    stopListening()
    toolbox.closing.removeEventListener('abort', onGone)
    session.ending.removeEventListener('abort', onDeleted)
  })
  waitForSilence()
  pump()

  function pump(): void {
    if (offset >= command.log.size) return
    while (offset < command.log.size) {
      const frame = command.log.read(offset, frameBytes(toolbox))
      if (frame.length === 0) return
      offset += frame.length
      socket.send(frame, { binary: true })
    }
    waitForSilence()
  }

  function waitForSilence(): void {
    clearTimeout(timer)
    timer = setTimeout(onSilence, toolbox.knobs.logIdleMs)
    timer.unref()
  }

  function onSilence(): void {
    if (command.exitCode === undefined) return waitForSilence()
    socket.close(CLOSE_NORMAL)
  }
}

function frameBytes(toolbox: Toolbox): number {
  const { logFrameBytes } = toolbox.knobs
  return logFrameBytes === 'random' ? toolbox.random.between(1, MAX_FRAME_BYTES) : logFrameBytes
}
