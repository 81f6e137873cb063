import type { Clock } from '../../clock.ts'
import { isHoldfastError } from '../../errors/holdfast-error.ts'
import type { SandboxSpawnHandle } from '../../sandbox/sandbox-process.ts'
import { isLiveness, LIVENESS } from './journal-liveness.ts'
import { locationLines } from './journal-location.ts'
import type { JournalLocation } from './journal-location.ts'
import { afterStart, BLOCK_BYTES, fromBase64 } from './journal-piece.ts'
import type { JournalPiece, JournalSource } from './journal-piece.ts'
import type { JournalSourceInput } from './poll-journal.ts'

const EMPTY = new Uint8Array()

/** A reader tells that it lives every few seconds. */
const MAX_SILENCE_MS = 30_000

/**
 * Keeps one reader running in the sandbox. Ends early, without a failure, when that reader is lost or never came about:
 * then the caller polls. A reader whose host has died ends by itself with its next sign of life.
 */
export async function* followJournal(input: JournalSourceInput): JournalSource {
  const follower = await spawnFollower(input)
  if (follower === undefined) return
  // A loop that is left without this would leave the reader running.
  try {
    let skipped = false
    for await (const line of untilSilent(linesOf(follower.stdout), input.clock)) {
      const piece = pieceOf(line)
      if (piece === undefined) return
      if (!skipped && piece.bytes.length > 0) {
        piece.bytes = afterStart(piece.bytes, input.start)
        skipped = true
      }
      yield piece
    }
  } catch (error) {
    if (!isHoldfastError(error)) throw error
  } finally {
    await endFollower(follower)
  }
}

async function spawnFollower(input: JournalSourceInput): Promise<SandboxSpawnHandle | undefined> {
  try {
    const { signal } = input
    return await input.handle.process.spawn(followScript(input, input.start), signal === undefined ? {} : { signal })
  } catch (error) {
    if (isHoldfastError(error)) return undefined
    throw error
  }
}

/** A reader that cannot be ended now ends when nobody takes its output any more. */
async function endFollower(follower: SandboxSpawnHandle): Promise<void> {
  try {
    await follower.kill('SIGKILL')
  } catch (error) {
    if (!isHoldfastError(error)) throw error
  }
}

/** `+` and base64: bytes. `.` and a liveness: all has been read. Anything else means that the reader ended. */
function pieceOf(line: string): JournalPiece | undefined {
  if (line.startsWith('+')) return { bytes: fromBase64(line.slice(1)), liveness: 'starting', isAtEnd: false }
  const liveness = line.slice(1)
  return line.startsWith('.') && isLiveness(liveness) ? { bytes: EMPTY, liveness, isAtEnd: true } : undefined
}

/**
 * Prints new bytes as they come, with longer pauses while there are none, and a sign of life now and then. Reads by
 * whole blocks from the one that holds `start`.
 */
function followScript(location: JournalLocation, start: number): string {
  const skip = Math.floor(start / BLOCK_BYTES)
  return [
    locationLines(location),
    LIVENESS,
    'exec 3<"$b.out" || exit 0',
    skip > 0 ? `dd bs=${BLOCK_BYTES} skip=${skip} count=0 <&3 2>/dev/null` : ':',
    `read1() { x=$(dd bs=${BLOCK_BYTES * 12} count=1 2>/dev/null <&3 | base64 | tr -d '\\n'); [ -n "$x" ]; }`,
    'w=0; while :; do liveness',
    `while read1; do printf '+%s\\n' "$x" || exit 0; w=0; done`,
    `if [ "$hf_l" = dead ]; then printf '.dead\\n'; exit 0; fi`,
    `if [ $((w % 10)) -eq 1 ]; then printf '.%s\\n' "$hf_l" || exit 0; fi; w=$((w+1))`,
    'if [ "$w" -lt 40 ]; then sleep 0.05 2>/dev/null || sleep 1; else sleep 0.25 2>/dev/null || sleep 1; fi',
    'done',
  ].join('\n')
}

/** Ends when nothing came for so long that the signs of life must have been lost on their way. */
async function* untilSilent(lines: AsyncGenerator<string, void>, clock: Clock): AsyncGenerator<string, void> {
  for (;;) {
    let cancelTimer = (): void => undefined
    const silence = new Promise<'silent'>((resolve) => {
      cancelTimer = clock.schedule(MAX_SILENCE_MS, () => resolve('silent'))
    })
    const next = lines.next()
    try {
      const result = await Promise.race([next, silence])
      if (result === 'silent') return
      if (result.done === true) return
      yield result.value
    } finally {
      next.catch(() => undefined)
      cancelTimer()
    }
  }
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
