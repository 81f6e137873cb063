import { spawnSync } from 'node:child_process'

/** PostgreSQL refuses to run as root. 65534 is `nobody` on Linux and macOS needs no account for a bare number. */
const NOBODY = 65_534

/** Spawn options under which the server runs: another user when this process is root, else unchanged. */
export type RunsAs = { uid?: number; gid?: number }

export function unprivilegedUser(): RunsAs {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
}

/** Whether that user can read `path` and reach what is below it. */
export function canUse(path: string, user: RunsAs): boolean {
  const { status } = spawnSync('/bin/sh', ['-c', 'test -r "$1" && test -x "$1"', 'sh', path], { ...user, cwd: '/' })
  return status === 0
}
