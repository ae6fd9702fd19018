import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A new empty folder, which goes with the test. Not for tests that run at the same time; see `temporaryFolders`. */
export function temporaryFolder(prefix: string): string {
  const folder = newFolder(prefix)
  onTestFinished(() => {
    remove(folder)
  })
  return folder
}

/**
 * Makes folders that go with the file; to be called at its top. Among tests that run at the same time vitest takes
 * whichever it began last for the one that asks, and a folder would go while another test still uses it.
 */
export function temporaryFolders(): (prefix: string) => string {
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) remove(folder)
  })
  return (prefix) => {
    const folder = newFolder(prefix)
    folders.push(folder)
    return folder
  }
}

function newFolder(prefix: string): string {
  return mkdtempSync(join(tmpdir(), prefix))
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
