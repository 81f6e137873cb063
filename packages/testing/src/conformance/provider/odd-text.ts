/** File names that some layer somewhere trims, normalises, quotes or splits. All are legal on POSIX. */
export const ODD_NAMES: readonly string[] = [
  ' leading space',
  'trailing space ',
  'trailing dot.',
  '-leading-dash',
  '--help',
  '~',
  '.hidden',
  '...',
  'two  spaces',
  'tab\there',
  'new\nline',
  'carriage\rreturn',
  "single'quote",
  'double"quote',
  'back\\slash',
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned',
  '* ? [a-z]',
  '#comment',
  '100%41',
  'é composed \u00e9',
  'é combined e\u0301',
  'straße',
  'strasse',
  'Case',
  'case',
  '漢字',
  'emoji 👩‍👩‍👧',
  '__proto__',
  'constructor',
  'CON',
  'x'.repeat(255),
]

/** Text that must pass a shell unchanged. */
export const ODD_VALUES: readonly string[] = [
  '',
  ' ',
  'a b',
  '-n',
  "it's",
  '"double"',
  '$HOME',
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned',
  'new\nline',
  'trailing newlines\n\n',
  'tab\t',
  'back\\slash\\',
  '*',
  '~',
  '%s%n',
  'é漢👩‍👩‍👧',
  'A=B',
  '!history',
]

/** Names that a shell could read as syntax, or that no shell can set. */
export const BAD_ENV_NAMES: readonly string[] = [
  '',
  '1A',
  'A=B',
  'A B',
  'A;touch pwned',
  'A-B',
  'é',
  '$(touch pwned)',
  'A\nB',
  'A\0B',
]

/** One to four bytes a character, with a mark that must not be joined or split. */
export const WIDE_TEXT = 'aé漢😀─e\u0301👩‍👩‍👧\u202e'

/** Every byte value. */
export const ALL_BYTES: Uint8Array = Uint8Array.from({ length: 256 }, (_, value) => value)
