import { readFile } from 'node:fs/promises'

/** A process now, told apart from a later one with the same id by when it started. */
export interface ProcessIdentity {
  pid: number
  /** When it started, in the operating system's own terms; absent where that cannot be read. */
  startedAt?: string
}

export async function identifyProcess(pid: number): Promise<ProcessIdentity> {
  const startedAt = await startOf(pid)
  return startedAt === undefined ? { pid } : { pid, startedAt }
}

/** Whether that very process still lives. A zombie has let go of its files. */
export async function isAlive({ pid, startedAt }: ProcessIdentity): Promise<boolean> {
  if (!canSignal(pid)) return false
  const now = await startOf(pid)
  return startedAt === undefined || now === undefined || now === startedAt
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // A process of another user exists all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Field 22 of `/proc/<pid>/stat`: clock ticks after boot, which with the boot's id names the process for good. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ])
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? 'ended' : `${boot.trim()} ${fields[18]}`
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ESRCH', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
}
