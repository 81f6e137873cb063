import type { BlobObject, BlobRecord } from '@holdfast/core'

/** A blob and its bytes, of which `chunks` gives the wanted part. The source is closed when a reader stops early. */
export function blobObject(
  record: BlobRecord,
  { offset, length }: { offset: number; length: number },
  chunks: AsyncGenerator<Uint8Array, void, undefined>,
): BlobObject {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(new Uint8Array(value))
      },
      async cancel() {
        await chunks.return()
      },
    },
    { highWaterMark: 0 },
  )
  const isWhole = offset === 0 && length === record.size
  return {
    ...record,
    ...(!isWhole && { range: { offset, length } }),
    body,
    arrayBuffer: () => new Response(body).arrayBuffer(),
    text: () => new Response(body).text(),
  }
}
