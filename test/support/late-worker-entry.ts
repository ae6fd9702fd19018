import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'

/** A `workerEntry` with which no thread starts until what it needs has come. */
export function lateWorkerEntry(): { readonly workerEntry: URL; readonly come: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'late-entry-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  const entry = new URL('../../dist/threadpool/worker-entry.js', import.meta.url)
  const file = join(folder, 'entry.mjs')
  writeFileSync(
    file,
    "import { existsSync } from 'node:fs'\n" +
      "if (!existsSync(new URL('./needed', import.meta.url))) throw new Error('not yet')\n" +
      `export const { serve } = await import('${entry.href}')\n`,
  )
  return {
    workerEntry: pathToFileURL(file),
    come: () => {
      writeFileSync(join(folder, 'needed'), '')
    },
  }
}
