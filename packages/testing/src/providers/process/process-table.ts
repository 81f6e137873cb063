import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { errnoOf } from '../files/file-error.ts'

/** One process of this machine. `environment` and `cwd` are only known on Linux, for processes of the same user. */
export interface ProcessEntry {
  pid: number
  parentPid: number
  groupId: number
  environment?: string
}

/** Processes that run now. A zombie has ended, so it is left out. */
export function listProcesses(): Promise<ProcessEntry[]> {
  return process.platform === 'linux' ? listFromProc() : listFromPs()
}

async function listFromProc(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc')
  const entries = await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map((name) => readProcEntry(Number(name))),
  )
  return entries.filter((entry) => entry !== undefined)
}

async function readProcEntry(pid: number): Promise<ProcessEntry | undefined> {
  const stat = await readOwn(`/proc/${pid}/stat`)
  // The name stands in parentheses and may hold anything, so the fields are counted from the last one.
  const [state, parentPid, groupId] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  if (state === undefined || state === 'Z' || state === 'X') return undefined
  const environment = await readOwn(`/proc/${pid}/environ`)
  return {
    pid,
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    ...(environment === undefined ? {} : { environment }),
  }
}

/** Undefined when the process is gone or belongs to somebody else. */
async function readOwn(path: string): Promise<string | undefined> {
  return readFile(path, 'latin1').catch((error: unknown) => {
    const code = errnoOf(error)
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return undefined
    throw error
  })
}

async function listFromPs(): Promise<ProcessEntry[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='])
  return stdout.split('\n').flatMap((line) => {
    const [pid, parentPid, groupId, state] = line.trim().split(/\s+/)
    if (state === undefined || state.startsWith('Z')) return []
    return [{ pid: Number(pid), parentPid: Number(parentPid), groupId: Number(groupId) }]
  })
}
