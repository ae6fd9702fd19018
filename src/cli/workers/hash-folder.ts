import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { JobRunContext } from '../../jobs/job-run-context.ts'

export interface HashFolderData {
  /** Path of the folder. */
  readonly folder: string
}

export interface HashFolderResult {
  readonly files: number
  readonly bytes: number
  /** SHA-256 over the paths and contents of all files, in order of their paths. */
  readonly sha256: string
  readonly threadId: number
  readonly summary: string
}

/** Worker job: one checksum over all files of a folder. */
export async function hashFolder(context: JobRunContext<HashFolderData>): Promise<HashFolderResult> {
  const { folder } = context.mergedJobDataMap
  const paths = await filesBelow(folder)
  const hash = createHash('sha256')
  let bytes = 0
  for (const [index, path] of paths.entries()) {
    context.signal.throwIfAborted()
    context.progress(`hashing ${index + 1} of ${paths.length}`)
    hash.update(`${path}\0`)
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      bytes += chunk.length
    }
  }
  const sha256 = hash.digest('hex')
  const summary = `${paths.length} files, ${bytes} bytes, sha256 ${sha256.slice(0, 12)} (thread ${threadId})`
  return { files: paths.length, bytes, sha256, threadId, summary }
}

/** Relative paths of all files below a folder, sorted. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort()
}
