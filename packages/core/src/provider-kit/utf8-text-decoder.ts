/**
 * Decodes UTF-8 that arrives in pieces. No character is ever split, a byte order mark is kept, and bytes that are not
 * UTF-8 become U+FFFD. One decoder per stream.
 */
export class Utf8TextDecoder {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  /** The text that is complete so far; may be empty. */
  write(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true })
  }

  /** What an unfinished character at the end becomes. Call it once, after the last piece. */
  end(): string {
    return this.#decoder.decode()
  }
}

/** Whole bytes as text, by the same rules. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
