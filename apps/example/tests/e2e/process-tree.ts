import { readdirSync, readFileSync } from 'node:fs'

/** Running processes of this machine whose command line holds a text that only they have. */
export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(mark) && !isZombie(pid))
    .map(Number)
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}

function commandLine(pid: string): string {
  return readText(`/proc/${pid}/cmdline`)
}

function isZombie(pid: string): boolean {
  return /^State:\s+Z/m.test(readText(`/proc/${pid}/status`))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // The process ended meanwhile.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return ''
    throw error
  }
}
