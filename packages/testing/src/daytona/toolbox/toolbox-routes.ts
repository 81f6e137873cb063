import { cpus, freemem, totalmem } from 'node:os'
import type { Exchange } from '../http/exchange.ts'
import { Router } from '../http/router.ts'
import { daemonError } from '../http/wire-error.ts'
import { runCode } from './code-run.ts'
import { assertEnvNames, assertExecuteRequest, executeCommand } from './execute-command.ts'
import { addFileRoutes } from './file-routes.ts'
import { addGitRoutes } from './git-routes.ts'
import { addPtyRoutes } from './pty-routes.ts'
import { readJson } from './read-json.ts'
import { addSessionRoutes, type ToolboxOf } from './session-routes.ts'

/** Everything below `/toolbox/{sandboxId}`, WebSockets apart. */
export function createToolboxRouter(toolboxOf: ToolboxOf): Router {
  const router = new Router()
  router.add('GET', '/version', (exchange) => exchange.json(200, { version: toolboxOf(exchange).knobs.daemon }))
  router.add('GET', '/work-dir', (exchange) => exchange.json(200, { dir: toolboxOf(exchange).workDir }))
  router.add('GET', '/user-home-dir', (exchange) => exchange.json(200, { dir: toolboxOf(exchange).homeDir }))
  router.add('POST', '/process/execute', async (exchange) => {
    const body = await readJson(exchange)
    assertExecuteRequest(body)
    exchange.json(200, await executeCommand(toolboxOf(exchange), body))
  })
  router.add('POST', '/process/code-run', async (exchange) => {
    exchange.json(200, await runCode(toolboxOf(exchange), await readJson(exchange)))
  })
  router.add('POST', '/env', async (exchange) => {
    assertNewDaemon(exchange, toolboxOf)
    const { set = {}, unset = [] } = await readJson<{ set: Record<string, string>; unset: string[] }>(exchange)
    assertEnvNames(set)
    toolboxOf(exchange).updateEnv(set, unset)
    exchange.send(200)
  })
  router.add('GET', '/system/metrics', (exchange) => {
    assertNewDaemon(exchange, toolboxOf)
    exchange.json(200, systemMetrics(toolboxOf(exchange).now()))
  })
  addSessionRoutes(router, toolboxOf)
  addFileRoutes(router, toolboxOf)
  addPtyRoutes(router, toolboxOf)
  addGitRoutes(router, toolboxOf)
  return router
}

/** `/env` and `/system/metrics` came after the last public daemon. */
function assertNewDaemon(exchange: Exchange, toolboxOf: ToolboxOf): void {
  if (toolboxOf(exchange).knobs.daemon === '0.190') throw daemonError(404, 'page not found')
}

function systemMetrics(now: number): object {
  return {
    cpuCount: cpus().length,
    cpuUsedPct: 0,
    memTotal: totalmem(),
    memUsed: totalmem() - freemem(),
    memCache: 0,
    diskTotal: 0,
    diskUsed: 0,
    diskFree: 0,
    timestamp: new Date(now).toISOString(),
    timestampUnix: Math.floor(now / 1_000),
  }
}
