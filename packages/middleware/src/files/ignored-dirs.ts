import { PRIVATE_DIR } from '../definition/workspace-marker.ts'

/** Not looked into, by whatever shows or watches the files: what no person wrote, and what is ours. */
export const IGNORED_DIRS: ReadonlySet<string> = new Set(['.git', 'node_modules', PRIVATE_DIR])
