import { UnsupportedError } from '@holdfast/core'

/** Loads an optional peer. `PEER_MISSING`, with the command that installs it, when it is not there. */
export async function importPeer<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new UnsupportedError(
      'PEER_MISSING',
      `This store needs the package ${name}. Install it: npm install ${name}`,
      {
        details: { package: name },
        cause: error,
      },
    )
  }
}
