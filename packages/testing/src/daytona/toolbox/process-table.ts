import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { readProc, statFields } from '../../process-group.ts'

export interface ProcessEntry {
  readonly pid: number
  readonly ppid: number
  readonly pgid: number
}

const run = promisify(execFile)
const HAS_PROC = existsSync('/proc/self/stat')

/** Every process of the machine that is not a zombie. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  if (HAS_PROC) return processIds().flatMap((pid) => readEntry(pid) ?? [])
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='])
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid, pgid, stat] = line.trim().split(/\s+/)
    if (pid === undefined || stat === undefined || stat.startsWith('Z')) return []
    return [{ pid: Number(pid), ppid: Number(ppid), pgid: Number(pgid) }]
  })
}

/** All below `pid`, itself left out. */
export function descendantsOf(pid: number, processes: readonly ProcessEntry[]): number[] {
  const children = processes.filter((entry) => entry.ppid === pid).map((entry) => entry.pid)
  return children.flatMap((child) => [child, ...descendantsOf(child, processes)])
}

/** Processes that carry this variable, in whatever group or session they are. Empty where the system cannot tell. */
export function processesWithEnv(name: string, value: string): number[] {
  if (!HAS_PROC) return []
  const wanted = `${name}=${value}`
  return processIds().filter((pid) => readProc(pid, 'environ')?.split('\0').includes(wanted) ?? false)
}

function processIds(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

function readEntry(pid: number): ProcessEntry | undefined {
  const [state, ppid, pgid] = statFields(pid) ?? []
  if (state === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, ppid: Number(ppid), pgid: Number(pgid) }
}
