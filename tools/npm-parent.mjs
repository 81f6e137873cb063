const CHECK_EVERY_MS = 250

/**
 * npm puts a shell between itself and a script, and that shell dies of a SIGTERM without passing it on. The script then
 * notices only by its new parent. Does nothing for a script that npm did not start.
 *
 * @param {() => void} onGone
 */
export function whenNpmIsGone(onGone) {
  if (!process.env['npm_lifecycle_event'] || process.platform === 'win32') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, CHECK_EVERY_MS)
  timer.unref()
}
