import { readFileSync } from 'node:fs'

/**
 * A process group by its leader's id. When the group is gone the id is given out again, to a process of anybody, so that
 * the leader's start goes with it.
 */
export interface ProcessGroup {
  readonly id: number
  /** In ticks after boot; undefined where the system does not tell. */
  readonly startedAt: string | undefined
}

/** The group that a process leads which was started just now. */
export function processGroup(leader: number): ProcessGroup {
  return { id: leader, startedAt: startOf(leader) }
}

/** Whether the id now is another process's. A group without its leader keeps the id as long as it has a member. */
export function isReused(group: ProcessGroup): boolean {
  const now = startOf(group.id)
  return group.startedAt !== undefined && now !== undefined && now !== group.startedAt
}

/** False when there is no such group any more. */
export function signalGroup(group: ProcessGroup, signal: NodeJS.Signals): boolean {
  return !isReused(group) && signalProcess(-group.id, signal)
}

/** Signals a process, or with a negative id a group. False when there is none. */
export function signalProcess(pid: number, signal: NodeJS.Signals | number): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')) return false
    throw error
  }
}

function startOf(pid: number): string | undefined {
  // Field 22, where the state is field 3.
  return statFields(pid)?.[19]
}

/** The fields of `/proc/<pid>/stat` from the state on. The name before it is in parentheses and may hold anything. */
export function statFields(pid: number): string[] | undefined {
  const stat = readProc(pid, 'stat')
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Undefined for a process that ended meanwhile or belongs to somebody else. */
export function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
