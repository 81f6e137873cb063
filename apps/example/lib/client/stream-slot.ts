/**
 * Streams that join a run, over all tabs of the browser. It opens about six connections to one server, and each stream
 * holds one; the rest are for sends, Stop and pages.
 */
const SLOTS = 3

/** A right to hold one stream, until the returned function is called or the tab goes. Null when none is free. */
export async function takeStreamSlot(): Promise<(() => void) | null> {
  // Missing where the page is neither local nor served over https; there nothing limits the streams.
  if (!('locks' in navigator)) return () => undefined
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const release = await tryLock(`holdfast-stream-${slot}`)
    if (release !== null) return release
  }
  return null
}

function tryLock(name: string): Promise<(() => void) | null> {
  return new Promise((resolve, reject) => {
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      if (lock !== null) return new Promise((release) => resolve(() => release()))
      resolve(null)
      return undefined
    }
    navigator.locks.request(name, { ifAvailable: true }, hold).catch(reject)
  })
}
