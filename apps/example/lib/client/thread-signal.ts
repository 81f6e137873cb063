/** Tells this page and the browser's other tabs that a thread's run began or ended, or that the thread was deleted. */
const CHANNEL = 'holdfast-threads'
const EVENT = 'holdfast-thread'

let channel: BroadcastChannel | undefined

export function announceThread(threadId: string): void {
  window.dispatchEvent(new CustomEvent(EVENT, { detail: threadId }))
  channelOf()?.postMessage(threadId)
}

/** Calls back with the thread that changed and whether another tab said so. Returns a function that ends it. */
export function onThreadSignal(callback: (threadId: string, isElsewhere: boolean) => void): () => void {
  const onLocal = (event: Event): void => callback(String((event as CustomEvent).detail), false)
  const onRemote = (event: MessageEvent): void => callback(String(event.data), true)
  window.addEventListener(EVENT, onLocal)
  channelOf()?.addEventListener('message', onRemote)
  return () => {
    window.removeEventListener(EVENT, onLocal)
    channelOf()?.removeEventListener('message', onRemote)
  }
}

function channelOf(): BroadcastChannel | undefined {
  if (typeof BroadcastChannel === 'undefined') return undefined
  channel ??= new BroadcastChannel(CHANNEL)
  return channel
}
