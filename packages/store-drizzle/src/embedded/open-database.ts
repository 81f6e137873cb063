import { existsSync } from 'node:fs'
import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { StoreError } from '@holdfast/core'

const UNOPENED = 'opened. Restore the directory from a backup, or move it away to start with an empty one.'

/**
 * Opens the database of a directory that this process has claimed, and makes it first where there is none. The driver
 * makes one by writing some 900 files, of which a process that dies leaves a part, and it takes that part for a
 * database. So a mark stands beside them until they are complete: what it marks has never been used, and is made anew.
 */
export async function openDatabase(directory: string, create: (path: string) => Promise<PGlite>): Promise<PGlite> {
  const path = join(directory, 'pg')
  const mark = join(directory, 'pg.unfinished')
  if (existsSync(mark)) await rm(path, { recursive: true, force: true })
  else if (existsSync(join(path, 'PG_VERSION'))) return attempted(path, create, UNOPENED)
  await writeFile(mark, '')
  await syncDirectory(directory)
  const database = await attempted(path, create, 'made. The next start tries it again.')
  try {
    // A mark that came back after a power cut would cost what was stored since.
    await rm(mark)
    await syncDirectory(directory)
    return database
  } catch (error) {
    await Promise.allSettled([database.close()])
    throw error
  }
}

async function attempted(path: string, create: (path: string) => Promise<PGlite>, failure: string): Promise<PGlite> {
  try {
    return await create(path)
  } catch (error) {
    const message = `The database in ${path} could not be ${failure}`
    throw new StoreError('STORE_FAILED', message, { details: { path }, cause: error })
  }
}

/** Makes the names of a directory outlive a power cut. Windows cannot open one, and keeps its names by itself. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
