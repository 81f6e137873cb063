/** Base64 forms shorter than this would match ordinary text. */
const MIN_FORM_LENGTH = 8

/**
 * The forms in which a secret's value turns up: plain, JSON-escaped, shell-quoted, URL-encoded, hexadecimal, and base64
 * and base64url at the three places where it can begin inside a longer text.
 */
export function secretEncodings(value: string): ReadonlySet<string> {
  const forms = new Set<string>([value])
  const json = JSON.stringify(value).slice(1, -1)
  forms.add(json)
  forms.add(json.replaceAll('/', String.raw`\/`))
  // Twice-escaped: JSON text inside a JSON string, as tool arguments are.
  forms.add(JSON.stringify(json).slice(1, -1))
  forms.add(value.replaceAll("'", String.raw`'\''`))
  forms.add(value.replaceAll(/(["$`\\])/g, String.raw`\$1`))
  forms.add(value.replaceAll(/([^\w@%+=:,./-])/g, String.raw`\$1`))
  if (value.isWellFormed()) addUrlForms(forms, value)
  const bytes = Buffer.from(value, 'utf8')
  addHexForms(forms, bytes)
  addBase64Forms(forms, bytes)
  return forms
}

function addUrlForms(forms: Set<string>, value: string): void {
  const component = encodeURIComponent(value)
  for (const form of [
    component,
    component.replaceAll(/[!'()*]/g, percent),
    new URLSearchParams([['', value]]).toString().slice(1),
  ]) {
    forms.add(form)
    forms.add(form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()))
  }
  forms.add(encodeURI(value))
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

function addHexForms(forms: Set<string>, bytes: Buffer): void {
  const hex = bytes.toString('hex')
  forms.add(hex)
  forms.add(hex.toUpperCase())
}

/** Only the characters that depend on nothing but the secret: those at the edges also hold bits of its neighbours. */
function addBase64Forms(forms: Set<string>, bytes: Buffer): void {
  for (const offset of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes])
    const start = Math.ceil((offset * 8) / 6)
    const end = Math.floor((padded.length * 8) / 6)
    for (const encoding of ['base64', 'base64url'] as const) {
      const form = padded.toString(encoding).slice(start, end)
      if (form.length >= MIN_FORM_LENGTH) forms.add(form)
    }
  }
}
