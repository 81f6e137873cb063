import { isHoldfastError } from '../../errors/holdfast-error.ts'
import { journalExec } from './journal-exec.ts'
import { isLiveness, LIVENESS } from './journal-liveness.ts'
import { locationLines } from './journal-location.ts'
import type { JournalLocation } from './journal-location.ts'
import { assertNonce, exitCodeOfLine } from './journal-marker.ts'
import { fromBase64 } from './journal-piece.ts'

const PROBE_BYTES = 4_096

/** `unknown` means that nothing may be concluded: leave the run as it is. */
export type JournalProbe = { state: 'finished'; exitCode: number } | { state: 'producing' } | { state: 'unknown' }

/**
 * Whether the command of a journal has ended, from the last 4 KiB and without changing anything. An empty journal is
 * `producing`; a missing one, a command lost without a word and any failure to look are `unknown`. Rejects only for
 * wrong arguments and with the signal's reason.
 */
export async function probeJournal(
  input: JournalLocation & { nonce: string; signal?: AbortSignal },
): Promise<JournalProbe> {
  const nonce = assertNonce(input.nonce)
  const script = probeScript(input)
  try {
    const result = await journalExec(input.handle, script, { operation: 'journal probe', signal: input.signal })
    const [liveness, text = ''] = result.stdout.split('\n')
    if (result.exitCode !== 0 || !isLiveness(liveness)) return { state: 'unknown' }
    const exitCode = lastExitCode(fromBase64(text), nonce)
    if (exitCode !== undefined) return { state: 'finished', exitCode }
    return { state: liveness === 'dead' ? 'unknown' : 'producing' }
  } catch (error) {
    if (isHoldfastError(error)) return { state: 'unknown' }
    throw error
  }
}

function probeScript(location: JournalLocation): string {
  return [
    locationLines(location),
    '[ -e "$b.out" ] || { echo none; exit 0; }',
    LIVENESS,
    `liveness; echo "$hf_l"; tail -c ${PROBE_BYTES} "$b.out" | base64 | tr -d '\\n'`,
  ].join('\n')
}

/** From the end, because what the command left running may print after the marker. */
function lastExitCode(tail: Uint8Array, nonce: string): number | undefined {
  let end = tail.lastIndexOf(0x0a)
  while (end > 0) {
    const start = tail.lastIndexOf(0x0a, end - 1)
    const exitCode = exitCodeOfLine(tail.subarray(start + 1, end), nonce)
    if (exitCode !== undefined) return exitCode
    end = start
  }
  return undefined
}
