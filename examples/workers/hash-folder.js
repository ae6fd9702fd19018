// A worker job: runs in a thread of its own, so it may block. It gets what can cross a thread, and returns what can.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

/** One SHA-256 over all files below `folder`. */
export default function hashFolder(context) {
  const { folder } = context.mergedJobDataMap
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  files.sort().forEach((file, index) => {
    context.signal.throwIfAborted()
    hash.update(readFileSync(file))
    context.progress({ done: index + 1, of: files.length })
  })
  context.log.info({ folder }, 'hashed')
  return { files: files.length, sha256: hash.digest('hex'), threadId }
}
