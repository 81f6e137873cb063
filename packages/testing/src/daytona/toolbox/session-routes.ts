import type { Exchange } from '../http/exchange.ts'
import { daemonError } from '../http/wire-error.ts'
import type { Router } from '../http/router.ts'
import { atLeastVersion } from './sdk-version.ts'
import { demultiplex } from './session-log.ts'
import type { SessionCommand } from './session-command.ts'
import { ENTRYPOINT } from './session-registry.ts'
import { sessionEndedError, type ShellSession } from './shell-session.ts'
import type { Toolbox } from './toolbox.ts'
import { readJson } from './read-json.ts'

export type ToolboxOf = (exchange: Exchange) => Toolbox

const EMPTY_LOG = { output: '', stdout: '', stderr: '' }
/** Older clients get the log as plain text [D190]. */
const JSON_LOGS_SINCE = '0.167'

export function addSessionRoutes(router: Router, toolboxOf: ToolboxOf): void {
  const base = '/process/session'
  router.add('POST', base, async (exchange) => {
    const { sessionId } = await readJson<{ sessionId?: unknown }>(exchange)
    toolboxOf(exchange).sessions.create(sessionId)
    exchange.send(201)
  })
  router.add('GET', base, (exchange) => exchange.json(200, toolboxOf(exchange).sessions.list().map(sessionDto)))
  router.add('GET', `${base}/${ENTRYPOINT}`, (exchange) => exchange.json(200, { sessionId: ENTRYPOINT, commands: [] }))
  router.add('GET', `${base}/${ENTRYPOINT}/logs`, (exchange) => exchange.json(200, EMPTY_LOG))
  router.add('GET', `${base}/:session`, (exchange) =>
    exchange.json(200, sessionDto(toolboxOf(exchange).sessions.open(exchange.param('session')))),
  )
  router.add('DELETE', `${base}/:session`, async (exchange) => {
    await toolboxOf(exchange).sessions.delete(exchange.param('session'))
    exchange.send(204)
  })
  router.add('POST', `${base}/:session/exec`, (exchange) => runCommand(exchange, toolboxOf(exchange)))
  router.add('GET', `${base}/:session/command/:command`, (exchange) => {
    exchange.json(200, commandDto(openCommand(exchange, toolboxOf(exchange))))
  })
  router.add('GET', `${base}/:session/command/:command/logs`, (exchange) => {
    sendLog(exchange, openCommand(exchange, toolboxOf(exchange)))
  })
  router.add('POST', `${base}/:session/command/:command/input`, (exchange) => sendInput(exchange, toolboxOf(exchange)))
}

async function runCommand(exchange: Exchange, toolbox: Toolbox): Promise<void> {
  const session = toolbox.sessions.open(exchange.param('session'))
  const body = await readJson<Record<string, unknown>>(exchange)
  toolbox.sessions.assertCommand(body['command'])
  const isAsync = body['runAsync'] === true || body['async'] === true
  const command = await session.run({
    command: body['command'],
    isAsync,
    suppressInputEcho: body['suppressInputEcho'] === true,
  })
  if (isAsync) return exchange.json(202, { cmdId: command.commandId })
  // Without an end when the shell dies first: only the caller's deadline ends the wait [M].
  await settledBefore(command.finished, toolbox, session.ending)
  const { stdout, stderr, output } = logParts(command)
  exchange.json(200, { cmdId: command.commandId, output, stdout, stderr, exitCode: command.exitCode })
}

/** Gives up waiting when the sandbox or the session ends first. */
function settledBefore(work: Promise<void>, toolbox: Toolbox, ended: AbortSignal): Promise<void> {
  const over = AbortSignal.any([toolbox.closing, ended])
  return new Promise((resolve, reject) => {
    const onGone = (): void => {
      reject(toolbox.closing.aborted ? toolbox.goneError() : sessionEndedError())
    }
    if (over.aborted) onGone()
    over.addEventListener('abort', onGone, { once: true })
    void work.then(() => {
      over.removeEventListener('abort', onGone)
      resolve()
    })
  })
}

async function sendInput(exchange: Exchange, toolbox: Toolbox): Promise<void> {
  const session = toolbox.sessions.open(exchange.param('session'))
  const command = openCommand(exchange, toolbox)
  const { data } = await readJson<{ data?: unknown }>(exchange)
  if (command.exitCode !== undefined) throw daemonError(410, 'command already completed', 'COMMAND_ALREADY_COMPLETED')
  if (session.hasExited) throw daemonError(410, 'session process has exited', 'SESSION_ENDED')
  if (!command.hasInput) throw daemonError(500, 'command has no input pipe')
  // The pipe of a queued command has no reader yet.
  await settledBefore(command.started, toolbox, AbortSignal.any([session.ending, session.exited]))
  await command.writeInput(typeof data === 'string' ? data : '')
  exchange.send(204)
}

function sendLog(exchange: Exchange, command: SessionCommand): void {
  const parts = logParts(command)
  if (atLeastVersion(exchange.header('x-daytona-sdk-version'), JSON_LOGS_SINCE)) exchange.json(200, parts)
  else exchange.send(200, parts.output, { 'content-type': 'text/plain; charset=utf-8' })
}

function openCommand(exchange: Exchange, toolbox: Toolbox): SessionCommand {
  return toolbox.sessions.openCommand(exchange.param('session'), exchange.param('command'))
}

/** `output` is the log as it is stored, markers included. */
function logParts(command: SessionCommand): { output: string; stdout: string; stderr: string } {
  const log = command.log.readAll()
  return { output: log.toString('utf8'), ...demultiplex(log) }
}

function sessionDto(session: ShellSession): object {
  return { sessionId: session.sessionId, commands: session.commands.map(commandDto) }
}

function commandDto(command: SessionCommand): object {
  const { exitCode } = command
  return { id: command.commandId, command: command.command, ...(exitCode === undefined ? {} : { exitCode }) }
}
