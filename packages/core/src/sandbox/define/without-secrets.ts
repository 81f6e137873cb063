/** Shorter values would blank ordinary words. */
const MIN_SECRET_LENGTH = 6
const URL_CREDENTIALS = /(\w+:\/\/)[^\s/@]+@/g

/** `text` with every given value, and the credentials of any URL, replaced by `***`. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length)
  let clean = text
  for (const secret of longestFirst) clean = clean.replaceAll(secret, '***')
  return clean.replaceAll(URL_CREDENTIALS, '$1***@')
}
