import { createTarPacker } from 'modern-tar'
import type { TarHeader } from 'modern-tar'
import type { ArchiveEntry } from './archive-entry.ts'

/** Limits of an archive that is written. */
export interface WriteArchiveOptions {
  /**
   * How names and targets that do not fit a header are kept: in pax records (default), which POSIX asks for, or in GNU
   * records, which BusyBox reads too.
   */
  longNames?: 'pax' | 'gnu'
}

/** Longest name in bytes that every tar reads from the header itself. */
const HEADER_NAME_BYTES = 100
const DIR_SUFFIX = '/'

/**
 * A tar archive of the entries, written as it is read. A body must give exactly its `size` bytes; else the archive
 * fails. A failure of the entries fails the archive, and a cancelled archive ends the entries.
 */
export function writeArchive(
  entries: AsyncIterable<ArchiveEntry> | Iterable<ArchiveEntry>,
  options: WriteArchiveOptions = {},
): ReadableStream<Uint8Array> {
  const packer = createTarPacker()
  const isGnu = options.longNames === 'gnu'
  void (async () => {
    for await (const entry of entries) {
      if (isGnu) await addEntry(packer.controller, gnuHeader(packer.controller, headerOf(entry)), entry)
      else await addEntry(packer.controller, headerOf(entry), entry)
    }
    packer.controller.finalize()
  })().catch((error: unknown) => packer.controller.error(error))
  return packer.readable
}

type PackController = ReturnType<typeof createTarPacker>['controller']

async function addEntry(
  controller: PackController,
  header: TarHeader | Promise<TarHeader>,
  entry: ArchiveEntry,
): Promise<void> {
  const sink = controller.add(await header)
  if (entry.kind === 'file') await entry.body.pipeTo(sink)
  else await sink.close()
}

function headerOf(entry: ArchiveEntry): TarHeader {
  switch (entry.kind) {
    case 'file':
      return { name: entry.path, type: 'file', size: entry.size, mode: entry.mode }
    case 'dir':
      return { name: entry.path + DIR_SUFFIX, type: 'directory', size: 0, mode: entry.mode }
    case 'symlink':
      return { name: entry.path, type: 'symlink', size: 0, mode: 0o777, linkname: entry.target }
  }
}

/** Writes the GNU records that `header` needs, and answers a header that fits. */
async function gnuHeader(controller: PackController, header: TarHeader): Promise<TarHeader> {
  const fitting = { ...header }
  if (header.linkname !== undefined && isLong(header.linkname)) {
    await addLongRecord(controller, 'gnu-long-link-name', header.linkname)
    fitting.linkname = cut(header.linkname)
  }
  if (isLong(header.name)) {
    await addLongRecord(controller, 'gnu-long-name', header.name)
    fitting.name = cut(header.name)
  }
  return fitting
}

async function addLongRecord(
  controller: PackController,
  type: 'gnu-long-name' | 'gnu-long-link-name',
  text: string,
): Promise<void> {
  const bytes = new TextEncoder().encode(`${text}\0`)
  const writer = controller.add({ name: '././@LongLink', type, size: bytes.length, mode: 0 }).getWriter()
  await writer.write(bytes)
  await writer.close()
}

function isLong(text: string): boolean {
  return text.length > HEADER_NAME_BYTES || new TextEncoder().encode(text).length > HEADER_NAME_BYTES
}

/** The longest beginning that fits a header and splits no character. */
function cut(text: string): string {
  const target = new Uint8Array(HEADER_NAME_BYTES - 1)
  const { read } = new TextEncoder().encodeInto(text, target)
  return text.slice(0, read)
}
