import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RedactionStream } from '../../../src/secrets/redaction-stream.ts'
import { SecretRedactor } from '../../../src/secrets/secret-redactor.ts'

const SECRET = `p@ss/w'rd "9$x\\ü+`

describe('SecretRedactor finds a secret', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const shell = {
    single: SECRET.replaceAll("'", String.raw`'\''`),
    double: SECRET.replaceAll(/(["$`\\])/g, String.raw`\$1`),
  }
  it.each([
    ['plain', SECRET, '[redacted]'],
    ['in JSON', JSON.stringify({ a: SECRET }), '{"a":"[redacted]"}'],
    [
      'in JSON within JSON',
      JSON.stringify({ a: JSON.stringify({ b: SECRET }) }),
      String.raw`{"a":"{\"b\":\"[redacted]\"}"}`,
    ],
    ['in single quotes of a shell', `'${shell.single}'`, `'[redacted]'`],
    ['in double quotes of a shell', `"${shell.double}"`, `"[redacted]"`],
    ['URL-encoded', encodeURIComponent(SECRET), '[redacted]'],
    ['URL-encoded in lower case', encodeURIComponent(SECRET).replaceAll(/%../g, (e) => e.toLowerCase()), '[redacted]'],
    ['form-encoded', new URLSearchParams({ a: SECRET }).toString(), 'a=[redacted]'],
    ['hexadecimal', Buffer.from(SECRET).toString('hex'), '[redacted]'],
    ['hexadecimal in upper case', Buffer.from(SECRET).toString('hex').toUpperCase(), '[redacted]'],
    ['base64', base64(SECRET), /^\[redacted\].{0,3}$/],
    ['base64 after one byte', base64(`:${SECRET}:`), /^.{2}\[redacted\].{0,5}$/],
    ['base64 after two bytes', base64(`u:${SECRET}`), /^.{3}\[redacted\].{0,3}$/],
    ['base64url', Buffer.from(`??>${SECRET}`).toString('base64url'), /^.{4}\[redacted\].{0,2}$/],
  ])('%s', (_form, text, expected) => {
    const redactor = new SecretRedactor([SECRET])
    const redacted = redactor.text(text)
    if (typeof expected === 'string') expect(redacted).toBe(expected)
    else expect(redacted).toMatch(expected)
    expect(Buffer.from(redactor.bytes(Buffer.from(text))).toString()).toBe(redacted)
    expect(redactor.hasSecret(text)).toBe(true)
  })

  it('whole, when two of them overlap', () => {
    expect(new SecretRedactor(['first-1234', '1234-second']).text('x first-1234-second y')).toBe('x [redacted] y')
    expect(new SecretRedactor(['key-1234', 'key-1234-more']).text('key-1234-more')).toBe('[redacted]')
  })

  it('in binary data, and leaves the rest byte for byte', () => {
    const noise = Uint8Array.from({ length: 256 }, (_, i) => i)
    const redacted = new SecretRedactor(['tok-8h2k9s']).bytes(Buffer.concat([noise, Buffer.from('tok-8h2k9s'), noise]))
    expect(Buffer.from(redacted)).toEqual(Buffer.concat([noise, Buffer.from('[redacted]'), noise]))
  })

  it('in every string of plain data', () => {
    const redactor = new SecretRedactor(['tok-8h2k9s'])
    expect(redactor.json({ a: ['x tok-8h2k9s'], 'tok-8h2k9s': 1, n: null })).toEqual({
      a: ['x [redacted]'],
      '[redacted]': 1,
      n: null,
    })
  })

  it('and nothing in ordinary text', () => {
    const text = 'The workspace was created; token, secret and password are ordinary words.'
    expect(new SecretRedactor([SECRET]).text(text)).toBe(text)
    expect(new SecretRedactor([]).text(text)).toBe(text)
  })
})

describe('RedactionStream', () => {
  const secrets = ['first-1234', '1234-second', 'aab-aab-aac', 'tok"8h2k9s']

  it('gives the same as redacting the whole, wherever the text is cut', () => {
    const redactor = new SecretRedactor(secrets)
    const piece = fc.oneof(
      fc.constantFrom(...secrets, ...secrets.map((s) => s.slice(0, 6)), JSON.stringify(secrets[3])),
      fc.string({ maxLength: 4 }),
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.nat({ max: 120 }), { maxLength: 12 }),
        (pieces, cuts) => {
          const text = pieces.join('')
          const stream = new RedactionStream(redactor)
          let shown = ''
          let at = 0
          for (const cut of cuts.toSorted((a, b) => a - b)) {
            shown += stream.push(text.slice(at, cut))
            at = Math.max(at, cut)
          }
          shown += stream.push(text.slice(at)) + stream.flush()
          expect(shown).toBe(redactor.text(text))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('holds back less than the longest form, and nothing that cannot become a secret', () => {
    const redactor = new SecretRedactor(['tok-8h2k9s'])
    const stream = new RedactionStream(redactor)
    expect(stream.push('hello ')).toBe('hello ')
    expect(stream.push('tok-8h2')).toBe('')
    expect(stream.push('x')).toBe('tok-8h2x')
    let [pushed, shown, held] = [0, 0, 0]
    for (const character of 'tok-8h2k9'.repeat(50)) {
      pushed += 1
      shown += stream.push(character).length
      held = Math.max(held, pushed - shown)
    }
    expect(held).toBeLessThan(redactor.maxLength)
  })
})
