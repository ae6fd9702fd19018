import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { builtEntry } from './check-in-rig.ts'

/** A check-in thread that boots, hangs or ends when the test says so; otherwise it is the built one. */
interface SteeredThread {
  boot(): void
  hang(): void
  die(): void
}

const code = (port: number): string => `
import { once } from 'node:events'
import { connect } from 'node:net'
const test = connect(${port}, '127.0.0.1')
test.on('error', () => {})
await once(test, 'data')
test.on('data', (order) => {
  if (String(order) === 'die') process.exit(1)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})
test.unref()
await import('${builtEntry.href}')
`

/** An entry for check-in threads that wait for the test before they boot. */
export class SteeredEntry {
  readonly url: URL
  readonly #server: Server
  readonly #threads: Socket[] = []

  private constructor(server: Server, folder: string) {
    const file = join(folder, 'entry.mjs')
    writeFileSync(file, code((server.address() as AddressInfo).port))
    this.url = pathToFileURL(file)
    this.#server = server
    server.on('connection', (socket) => {
      // A thread that is terminated resets its connection.
      socket.on('error', () => {})
      this.#threads.push(socket)
      server.emit('thread')
    })
  }

  static async make(): Promise<SteeredEntry> {
    const folder = mkdtempSync(join(tmpdir(), 'steered-entry-'))
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const entry = new SteeredEntry(server, folder)
    onTestFinished(() => {
      for (const socket of entry.#threads) socket.destroy()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    })
    return entry
  }

  /** Resolves when so many threads have been started; the last one of them is answered. */
  async thread(count: number): Promise<SteeredThread> {
    while (this.#threads.length < count) await once(this.#server, 'thread')
    const order = (text: string) => () => {
      this.#threads[count - 1]?.write(text)
    }
    return { boot: order('boot'), hang: order('hang'), die: order('die') }
  }
}
