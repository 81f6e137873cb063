import type { Router } from '../http/router.ts'
import { daemonError, type WireError } from '../http/wire-error.ts'
import { assertPtySize } from './pty-registry.ts'
import { readJson } from './read-json.ts'
import type { ToolboxOf } from './session-routes.ts'

interface CreatePtyBody {
  id: string
  cwd: string
  envs: Record<string, string>
  cols: number
  rows: number
}

export function addPtyRoutes(router: Router, toolboxOf: ToolboxOf): void {
  const base = '/process/pty'
  router.add('GET', base, (exchange) => {
    exchange.json(200, {
      sessions: toolboxOf(exchange)
        .ptys.list()
        .map((pty) => pty.info()),
    })
  })
  // How clients up to 0.196 create a terminal, before `create-connect` [S].
  router.add('POST', base, async (exchange) => {
    const { id = '', cwd, envs = {}, cols = 80, rows = 24 } = await readJson<CreatePtyBody>(exchange)
    const pty = await toolboxOf(exchange).ptys.create({ id, cols, rows, envs, ...(cwd === undefined ? {} : { cwd }) })
    exchange.json(201, { sessionId: pty.id })
  })
  router.add('GET', `${base}/:pty`, (exchange) => {
    exchange.json(200, toolboxOf(exchange).ptys.open(exchange.param('pty')).info())
  })
  router.add('POST', `${base}/:pty/resize`, async (exchange) => {
    const { cols, rows } = await readJson<{ cols: number; rows: number }>(exchange)
    assertPtySize({ cols, rows })
    const pty = toolboxOf(exchange).ptys.find(exchange.param('pty'))
    if (!pty) throw gone(exchange.param('pty'))
    pty.resize(cols ?? 0, rows ?? 0)
    exchange.json(200, pty.info())
  })
  router.add('DELETE', `${base}/:pty`, (exchange) => {
    toolboxOf(exchange).ptys.open(exchange.param('pty')).kill()
    exchange.json(200, { message: 'PTY session deleted' })
  })
}

function gone(id: string): WireError {
  return daemonError(410, `PTY session ${id} is not active`)
}
