/** Most bytes of the body of a request, as Java executors have it. */
export const bodyBytesMax: number = 5 * 1024 * 1024
/** So many bytes of a body that is not wanted are read and dropped, so that its sender gets to read the answer. */
const droppedBytesMax = 4 * bodyBytesMax

export interface ReadBody {
  /** Null for a body of more than the wanted bytes. */
  readonly text: string | null
  /** False: the connection is of no more use. */
  readonly isAtEnd: boolean
}

/** The body of a request, never more than `maxBytes` of it in memory. */
export async function readLimited(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<ReadBody> {
  let chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes <= maxBytes) chunks.push(chunk)
    else chunks = []
    if (bytes > droppedBytesMax) return { text: null, isAtEnd: false }
  }
  return { text: bytes > maxBytes ? null : Buffer.concat(chunks).toString('utf8'), isAtEnd: true }
}
