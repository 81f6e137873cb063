import { createChatDriver, startReaper } from '@holdfast/middleware'
import type { Reaper } from '@holdfast/middleware'
import { perProcess } from './per-process.ts'
import { chatOptions } from './routes.ts'

const EVERY_MS = 60_000
/** A run that nobody has watched for so long is ended. */
const DETACHED_TTL_MS = 60 * 60_000

/** Continues runs whose host died, ends those that nobody came back to, and reclaims their sandboxes. */
export function reaper(): Reaper {
  return perProcess('reaper', () => {
    const options = chatOptions()
    const { stores, sandbox } = options
    const driver = createChatDriver(options)
    return startReaper({ stores, sandbox, driver, everyMs: EVERY_MS, detachedTtlMs: DETACHED_TTL_MS })
  })
}
