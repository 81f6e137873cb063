/** Shorter values would blank ordinary text when they are redacted. UTF-8 bytes. */
export const MIN_SECRET_BYTES = 8

/** A value with fewer different characters is a pattern (`aaaaaaaa`, `abababab`), not a secret. */
const MIN_DISTINCT_CHARACTERS = 4

/** Words that stand in ordinary files and conversations, so that replacing them would destroy those. */
const COMMON_WORDS: ReadonlySet<string> = new Set([
  'changeme',
  'database',
  'default1',
  'development',
  'disabled',
  'username',
  'undefined',
  'function',
  'localhost',
  'passw0rd',
  'password',
  'password1',
  'password123',
  'postgres',
  'production',
  'qwertyuiop',
  'workspace',
  '12345678',
  '123456789',
  '1234567890',
])

const LETTERS_ONLY = /^[a-z]+$/

/** Letters alone below this length are taken for a word of a language. */
const MIN_WORD_LENGTH = 12

/** Why `value` cannot be recognised safely in text, or undefined when it can. Never quotes the value. */
export function secretWeakness(value: string): string | undefined {
  if (new TextEncoder().encode(value).length < MIN_SECRET_BYTES) return `is shorter than ${MIN_SECRET_BYTES} bytes`
  const lower = value.toLowerCase()
  if (new Set(lower).size < MIN_DISTINCT_CHARACTERS) return 'repeats too few different characters'
  if (COMMON_WORDS.has(lower)) return 'is a common word'
  if (LETTERS_ONLY.test(lower) && value.length < MIN_WORD_LENGTH) return 'could be an ordinary word'
  return undefined
}
