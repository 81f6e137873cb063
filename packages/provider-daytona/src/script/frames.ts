/**
 * A line that one of our scripts prints: `@<nonce> <kind> <payload>`. Everything else in the output is ignored, so that
 * echoes, profile chatter and what a shell adds do no harm; the nonce keeps a command from forging one.
 */
export interface Frame {
  readonly kind: string
  readonly payload: string
}

/** Finds the frames of one nonce in text that arrives in pieces. */
export class FrameReader {
  readonly #prefix: string
  readonly #parts: string[] = []

  constructor(nonce: string) {
    this.#prefix = `@${nonce} `
  }

  /** The frames whose lines are complete so far. */
  push(text: string): Frame[] {
    const end = text.indexOf('\n')
    if (end === -1) {
      if (text !== '') this.#parts.push(text)
      return []
    }
    const lines = (this.#parts.splice(0).join('') + text).split('\n')
    const rest = lines.pop()
    if (rest !== undefined && rest !== '') this.#parts.push(rest)
    return lines.flatMap((line) => this.#parse(line))
  }

  /** The frames of text that is complete. */
  static readAll(nonce: string, text: string): Frame[] {
    return new FrameReader(nonce).push(`${text}\n`)
  }

  #parse(line: string): Frame[] {
    const start = line.indexOf(this.#prefix)
    if (start === -1) return []
    const body = line.slice(start + this.#prefix.length).replace(/\r$/, '')
    const space = body.indexOf(' ')
    return [space === -1 ? { kind: body, payload: '' } : { kind: body.slice(0, space), payload: body.slice(space + 1) }]
  }
}

/** The bytes of a frame's payload. */
export function frameBytes(frame: Frame): Uint8Array {
  return new Uint8Array(Buffer.from(frame.payload, 'base64'))
}

/** The text of a frame's payload. */
export function frameText(frame: Frame): string {
  return Buffer.from(frame.payload, 'base64').toString('utf8')
}
