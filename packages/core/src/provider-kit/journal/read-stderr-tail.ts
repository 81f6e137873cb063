import { decodeUtf8 } from '../utf8-text-decoder.ts'
import { journalExec, journalFailed } from './journal-exec.ts'
import { locationLines } from './journal-location.ts'
import type { JournalLocation } from './journal-location.ts'
import { fromBase64 } from './journal-piece.ts'

const DEFAULT_MAX_BYTES = 4_096

/** The end of what a command of a journal printed as errors; empty when it printed none. */
export async function readStderrTail(
  input: JournalLocation & { maxBytes?: number; signal?: AbortSignal },
): Promise<string> {
  const { handle, signal, maxBytes = DEFAULT_MAX_BYTES } = input
  const script = `${locationLines(input)}; [ ! -s "$b.err" ] || tail -c ${maxBytes} "$b.err" | base64 | tr -d '\\n'`
  const result = await journalExec(handle, script, { operation: 'journal error read', signal })
  if (result.exitCode !== 0) throw journalFailed('journal error read', result)
  const bytes = fromBase64(result.stdout)
  return decodeUtf8(bytes.subarray(bytes.length < maxBytes ? 0 : firstWholeCharacter(bytes)))
}

function firstWholeCharacter(bytes: Uint8Array): number {
  const index = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80)
  return Math.max(0, index)
}
