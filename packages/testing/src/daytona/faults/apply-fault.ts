import type { Exchange } from '../http/exchange.ts'
import type { WireFaultEffect } from './wire-fault.ts'

const PAGE = '<!doctype html><html><head><title>Daytona</title></head><body><div id="root"></div></body></html>'

/** Lets a fault act on a request. False when the request is over and no work must be done. */
export async function applyFault(exchange: Exchange, effect: WireFaultEffect): Promise<boolean> {
  switch (effect.kind) {
    case 'lost-reply':
      exchange.fate = { kind: 'lose' }
      return true
    case 'drop':
      exchange.drop()
      return false
    case 'hang':
      exchange.fate = { kind: 'withhold' }
      return effect.afterWork === true
    case 'delay':
      await new Promise<void>((resolve) => setTimeout(resolve, effect.ms))
      return true
    case 'status':
      answerStatus(exchange, effect)
      return false
    case 'html':
      exchange.send(effect.status ?? 200, PAGE, { 'content-type': 'text/html; charset=utf-8' })
      return false
    case 'rate-limit':
      exchange.setHeader('retry-after', String(effect.retryAfterSeconds))
      exchange.json(429, {
        statusCode: 429,
        message: 'ThrottlerException: Too Many Requests',
        error: 'Too Many Requests',
      })
      return false
    case 'cut-reply':
      exchange.fate = { kind: 'cut', atByte: effect.atByte }
      return true
    case 'cut-upload':
      exchange.cutUploadAt = effect.atByte
      return true
    case 'cut-socket':
    case 'silent-socket':
    case 'kill-sandbox':
      return true
  }
}

function answerStatus(exchange: Exchange, effect: Extract<WireFaultEffect, { kind: 'status' }>): void {
  for (const [name, value] of Object.entries(effect.headers ?? {})) exchange.setHeader(name, value)
  if (effect.body) exchange.json(effect.status, effect.body)
  else exchange.send(effect.status)
}
