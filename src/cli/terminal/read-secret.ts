import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'

/** Reads a line from the terminal without showing it, or the first line of what is piped in. */
export async function readSecret(
  prompt: string,
  input: Readable & { readonly isTTY?: boolean } = process.stdin,
): Promise<string> {
  const isTerminal = input.isTTY === true
  if (isTerminal) process.stderr.write(prompt)
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done()
    },
  })
  const lines = createInterface({ input, output: nowhere, terminal: isTerminal })
  try {
    return await new Promise((resolve) => {
      lines.once('line', resolve)
      lines.once('close', () => {
        resolve('')
      })
    })
  } finally {
    lines.close()
    if (isTerminal) process.stderr.write('\n')
  }
}
