import { RefusedError } from '@holdfast/core'
import type { CheckpointPolicy } from '@holdfast/core'
import { ByteRedactionStream } from '../../secrets/byte-redaction-stream.ts'
import type { SecretRedactor } from '../../secrets/secret-redactor.ts'

/** As git decides it: a NUL among the first bytes. */
const BINARY_PROBE_BYTES = 8_000

/** Says that content is to be left out because of a secret in it. Never leaves the capture. */
export class SecretContent extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

export interface RedactedBody {
  readonly pieces: AsyncIterable<Uint8Array>
  /** Whether anything was replaced. To be asked at the end. */
  readonly isRedacted: () => boolean
}

/**
 * The content without secrets. Throws `SecretContent` where it is to be left out: with `exclude`, and for binary content,
 * which a replacement would break. With `refuse` it throws `SECRET_FOUND`.
 */
export function redactedBody(input: {
  path: string
  body: AsyncIterable<Uint8Array>
  redactor: SecretRedactor
  onSecret: NonNullable<CheckpointPolicy['onSecret']>
}): RedactedBody {
  const { redactor, body } = input
  if (redactor.isEmpty) return { pieces: body, isRedacted: () => false }
  const stream = new ByteRedactionStream(redactor)
  return { pieces: redact(input, stream), isRedacted: () => stream.found }
}

async function* redact(
  input: Parameters<typeof redactedBody>[0],
  stream: ByteRedactionStream,
): AsyncGenerator<Uint8Array, void, undefined> {
  let isBinary = false
  for await (const { piece, isFirst } of withProbe(input.body)) {
    if (isFirst) isBinary = piece.subarray(0, BINARY_PROBE_BYTES).includes(0)
    const output = stream.push(piece)
    if (stream.found) assertMayRedact(input, isBinary)
    yield* output
  }
  const rest = stream.flush()
  if (stream.found) assertMayRedact(input, isBinary)
  yield* rest
}

/** The first piece has all that is needed to tell text from binary content, or is the whole content. */
async function* withProbe(body: AsyncIterable<Uint8Array>): AsyncGenerator<{ piece: Uint8Array; isFirst: boolean }> {
  let probe: Uint8Array[] | undefined = []
  let length = 0
  for await (const piece of body) {
    if (probe === undefined) {
      yield { piece, isFirst: false }
      continue
    }
    probe.push(piece)
    length += piece.length
    if (length < BINARY_PROBE_BYTES) continue
    yield { piece: Buffer.concat(probe), isFirst: true }
    probe = undefined
  }
  if (probe !== undefined) yield { piece: Buffer.concat(probe), isFirst: true }
}

function assertMayRedact({ path, redactor, onSecret }: Parameters<typeof redactedBody>[0], isBinary: boolean): void {
  if (onSecret === 'refuse') throw secretFound(redactor.text(path))
  if (onSecret === 'exclude') throw new SecretContent('it holds a registered secret')
  if (isBinary) throw new SecretContent('it is binary and holds a registered secret')
}

export function secretFound(place: string): RefusedError {
  const message = `A registered secret stands in ${JSON.stringify(place)}, and the policy refuses that. Nothing was saved.`
  return new RefusedError('SECRET_FOUND', message, { details: { path: place } })
}
