import assert from 'node:assert/strict'

/** More pages than any case makes. A list whose cursor does not move ends here instead of never. */
const MOST_PAGES = 200

/** Follows the cursors of a list from the first page to the last. */
export async function walkPages<T>(
  list: (page: { cursor?: string }) => Promise<{ items: readonly T[]; cursor?: string | undefined }>,
): Promise<T[][]> {
  const pages: T[][] = []
  let page: { cursor?: string } = {}
  for (;;) {
    const { items, cursor } = await list(page)
    pages.push([...items])
    if (cursor === undefined) return pages
    page = { cursor }
    assert.ok(pages.length < MOST_PAGES, 'the pages come to an end')
  }
}

/** Cursors that no list gave. */
export const BAD_CURSORS: readonly string[] = ['', 'nonsense', '\0', '{}', '==', '-1']

/** Limits that lists with a largest page refuse. */
export const BAD_PAGE_LIMITS: readonly number[] = [0, -1, 1.5, Number.NaN, 1_001]
