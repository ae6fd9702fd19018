import { StringDecoder } from 'node:string_decoder'

/** How many bytes of an output are kept; the rest is read and counted, so that no command blocks on a full pipe. */
export const capturedBytesMax: number = 64 * 1024

/** The beginning of what a process wrote. */
export class CapturedOutput {
  readonly #decoder = new StringDecoder('utf8')
  #text = ''
  #keptBytes = 0
  #totalBytes = 0

  add(chunk: Buffer): void {
    this.#totalBytes += chunk.length
    const kept = chunk.subarray(0, capturedBytesMax - this.#keptBytes)
    if (kept.length === 0) return
    this.#keptBytes += kept.length
    this.#text += this.#decoder.write(kept)
  }

  /** The kept part as text; a character that the limit cuts in two is left out. */
  get text(): string {
    return this.#text
  }

  /** How much was written, kept or not. */
  get totalBytes(): number {
    return this.#totalBytes
  }
}
