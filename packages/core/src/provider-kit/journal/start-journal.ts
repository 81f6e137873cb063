import { ConflictError, InvalidInputError, ProviderError, UnsupportedError } from '../../errors/error-classes.ts'
import type { SandboxExecResult } from '../../sandbox/sandbox-process.ts'
import { shellCommand, shellQuote } from '../shell-quote.ts'
import { assertEnvVars } from '../env-vars.ts'
import { journalFailed } from './journal-exec.ts'
import { locationLines, realPath } from './journal-location.ts'
import type { JournalHandle, JournalLocation } from './journal-location.ts'
import { assertNonce, tokenOf } from './journal-marker.ts'
import { SUPERVISOR_SCRIPT } from './supervisor-script.ts'

/** The command that a journal records. */
export interface StartJournalInput extends JournalLocation {
  /** From `newJournalNonce`, stored by the caller before the start. */
  nonce: string
  /** Run by `sh`. Holds no secret: it is visible to every process of the sandbox. */
  command: string
  /** Default: the workspace root. */
  cwd?: string
  env?: Record<string, string>
  /** What the command is asked. Its bytes are kept in a file of the journal. */
  prompt?: { text: string; via: 'stdin' | 'file' }
  signal?: AbortSignal
}

/** `joined`: an earlier start with the same nonce had taken effect. */
export type StartJournalResult = 'started' | 'joined'

const EXIT = { cannotWrite: 90, noNonce: 91, taken: 92, noDirectory: 93, notStarted: 94 } as const

/**
 * Starts a command that outlives this host, with its outputs and the way it ended in files of the sandbox, and resolves
 * when it runs. Safe to repeat with the same nonce: the command is started once. `JOURNAL_EXISTS` when the run id has a
 * journal with another nonce, `PROCESS_START_FAILED` when the command could not be started (a missing `cwd`, for
 * example), `INVALID_ID` for a run id that cannot name a journal, `CAPABILITY_UNSUPPORTED` where processes do not
 * outlive the command that starts them.
 */
export async function startJournal(input: StartJournalInput): Promise<StartJournalResult> {
  const nonce = assertNonce(input.nonce)
  const env = assertEnvVars(input.env)
  const script = startScript(input, tokenOf(nonce))
  requireBackground(input.handle)
  input.signal?.throwIfAborted()
  // The signal is not passed on: an abort during the start would leave behind nobody knows what.
  const result = await input.handle.process.exec(script, {
    env,
    stdin: `${nonce}\n${input.prompt?.text ?? ''}`,
    timeoutMs: START_TIMEOUT_MS,
  })
  return resultOf(input, result)
}

const START_TIMEOUT_MS = 60_000

function resultOf(input: StartJournalInput, result: SandboxExecResult): StartJournalResult {
  const { runId } = input
  const answer = result.stdout.trim()
  if (result.timedOut !== true && result.exitCode === 0 && (answer === 'started' || answer === 'joined')) return answer
  if (result.exitCode === EXIT.taken) {
    throw new ConflictError('JOURNAL_EXISTS', `Run ${runId} has a journal already; use a fresh run id.`, {
      details: { runId },
    })
  }
  if (result.exitCode === EXIT.noDirectory) throw startFailed(runId, 'its working directory does not exist')
  if (result.exitCode === EXIT.cannotWrite) throw startFailed(runId, 'the journal directory cannot be written')
  if (result.exitCode === EXIT.notStarted) throw startFailed(runId, 'it was not seen to run')
  throw journalFailed('journal start', result)
}

function startFailed(runId: string, why: string): ProviderError {
  return new ProviderError('PROCESS_START_FAILED', `The command of run ${runId} could not be started: ${why}.`, {
    details: { runId },
  })
}

function startScript(input: StartJournalInput, token: string): string {
  const { command, prompt, handle, cwd } = input
  if (typeof command !== 'string' || command.trim() === '') {
    throw new InvalidInputError('INVALID_ARGUMENT', 'command must be a non-empty string.')
  }
  const directory = cwd === undefined ? '"$(pwd)"' : shellQuote(realPath(handle, cwd))
  return [
    `um=$(umask); umask 077; ${locationLines(input)}; c=${directory}`,
    `mkdir -p "$d" && [ -w "$d" ] || exit ${EXIT.cannotWrite}`,
    `[ -d "$c" ] || exit ${EXIT.noDirectory}`,
    `[ -e "$d/.gitignore" ] || echo '*' >"$d/.gitignore"`,
    `IFS= read -r n && [ -n "$n" ] || exit ${EXIT.noNonce}`,
    // The file is made in one atomic step by whoever starts the command.
    `if ( set -C; echo ${token} >"$b.run" ) 2>/dev/null; then`,
    `{ cat >"$b.in" && : >>"$b.out" && : >>"$b.err"; } || { rm -f "$b.run"; exit ${EXIT.cannotWrite}; }`,
    'own=$(command -v setsid) || own=$(command -v nohup)',
    `set -- ${shellCommand([SUPERVISOR_SCRIPT, command, token, prompt?.via ?? 'none'])}`,
    `( printf '%s\\n' "$n" | $own sh -c "$1" sh "$b" "$c" "$um" "$2" "$3" "$4" >/dev/null 2>&1 & )`,
    'r=started; else',
    `[ -e "$b.run" ] || exit ${EXIT.cannotWrite}`,
    'i=0; until [ -s "$b.run" ]; do i=$((i+1)); [ "$i" -lt 50 ] || break; sleep 0.02 2>/dev/null || sleep 1; done',
    `t=; read -r t <"$b.run"; [ "$t" = ${token} ] || exit ${EXIT.taken}`,
    'r=joined; fi',
    `i=0; until [ -s "$b.pid" ]; do i=$((i+1)); [ "$i" -lt 500 ] || exit ${EXIT.notStarted}`,
    'sleep 0.02 2>/dev/null || sleep 1; done; echo "$r"',
  ].join('\n')
}

function requireBackground(handle: JournalHandle): void {
  if (handle.capabilities.backgroundProcesses) return
  const reason = handle.capabilities.unsupported?.backgroundProcesses ?? 'It does not say why.'
  throw new UnsupportedError(
    'CAPABILITY_UNSUPPORTED',
    `A journal needs processes that go on by themselves: ${reason}`,
    {
      details: { capability: 'backgroundProcesses' },
    },
  )
}
