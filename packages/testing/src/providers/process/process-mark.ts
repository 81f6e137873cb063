import { randomUUID } from 'node:crypto'
import type { ProcessEntry } from './process-table.ts'

/** Set in the environment of every command, so that its processes are found whatever session they moved to. */
export const MARK_VARIABLE = 'HOLDFAST_PROCESS_MARK'

/** Which processes belong together: all of a sandbox, or those that one command started. */
export interface ProcessFamily {
  /** Beginning of the value of `MARK_VARIABLE`. */
  mark: string
  /** Leader of the command's process group, for platforms where no environment can be read. */
  groupId?: number
}

/** All processes of a sandbox. `instance` is unique to one sandbox on this machine. */
export function sandboxFamily(instance: string): ProcessFamily {
  return { mark: `${instance}.` }
}

/** A fresh mark for one command of a sandbox. */
export function commandMark(instance: string): string {
  return `${instance}.${randomUUID()}`
}

/** Members of the family, and everything that descends from one. */
export function familyMembers(family: ProcessFamily, processes: readonly ProcessEntry[]): ProcessEntry[] {
  const members = new Map<number, ProcessEntry>()
  for (const entry of processes) if (isMember(family, entry)) members.set(entry.pid, entry)
  let grew = members.size > 0
  while (grew) {
    grew = false
    for (const entry of processes) {
      if (members.has(entry.pid) || !members.has(entry.parentPid)) continue
      members.set(entry.pid, entry)
      grew = true
    }
  }
  members.delete(process.pid)
  return [...members.values()]
}

function isMember(family: ProcessFamily, entry: ProcessEntry): boolean {
  if (family.groupId !== undefined && entry.groupId === family.groupId) return true
  const marked = `${MARK_VARIABLE}=${family.mark}`
  return entry.environment !== undefined && `\0${entry.environment}`.includes(`\0${marked}`)
}
