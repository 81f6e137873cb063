// tsc leaves the output of deleted sources behind, and whatever is in dist is published.
import { rmSync } from 'node:fs'

for (const folder of ['dist', '.tsbuild']) rmSync(folder, { recursive: true, force: true })
