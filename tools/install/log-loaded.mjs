// Copied into a project: `node --import ./log-loaded.mjs` writes the address of every loaded module to $LOADED_FILE.
import { register } from 'node:module'

const hooks = `
import { appendFileSync } from 'node:fs'
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_FILE, url + '\\n')
  return next(url, context)
}`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)
