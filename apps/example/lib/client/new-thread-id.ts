/** Random and short enough for an address bar. Works without a secure context, unlike `crypto.randomUUID`. */
export function newThreadId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return `t-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
