import type { Server as HttpServer } from 'node:http'
import { Server, type Socket } from 'socket.io'
import type { StateChange } from '../control/sandbox-transitions.ts'
import type { DaytonaService } from '../daytona-service.ts'
import type { RequestLog } from './request-log.ts'

export const EVENTS_PATH = '/api/socket.io/'

/** The Socket.IO channel of 0.199 and later: one room for each organization [S][A190]. */
export class EventChannel {
  readonly #service: DaytonaService
  readonly #server: Server

  constructor(service: DaytonaService, http: HttpServer, requests: RequestLog) {
    this.#service = service
    this.#server = new Server({ serveClient: false, transports: ['websocket'], path: EVENTS_PATH })
    this.#server.attach(http, { path: EVENTS_PATH, destroyUpgrade: false, transports: ['websocket'] })
    this.#server.use((socket, next) => {
      const organizationId = this.#organizationOf(socket)
      if (organizationId === undefined) return next(new Error('Unauthorized'))
      void socket.join(organizationId)
      next()
    })
    this.#server.on('connection', () => {
      requests.add({ kind: 'events', method: 'WS', path: EVENTS_PATH, route: 'WS /socket.io', at: service.now() })
    })
  }

  stateUpdated({ record, oldState, newState }: StateChange): void {
    const sandbox = this.#service.dto(record)
    this.#server.to(record.organizationId).emit('sandbox.state.updated', { sandbox, oldState, newState })
  }

  created(organizationId: string, sandbox: object): void {
    this.#server.to(organizationId).emit('sandbox.created', sandbox)
  }

  async close(): Promise<void> {
    this.#server.disconnectSockets(true)
    this.#server.engine.close()
    await Promise.resolve()
  }

  #organizationOf(socket: Socket): string | undefined {
    const { token } = socket.handshake.auth as { token?: unknown }
    const wanted = socket.handshake.query['organizationId']
    return this.#service.organizations.find(
      typeof token === 'string' ? token : undefined,
      typeof wanted === 'string' ? wanted : undefined,
    )
  }
}
