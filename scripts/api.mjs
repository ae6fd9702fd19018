// Writes the public surface of each entry point to api/NAME.txt: `npm run api`. A test compares the files with the
// code.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, withSources } from './lib/sources.mjs'

await withSources(async (load) => {
  const { publicFace } = await load('/test/support/public-face.ts')
  const { apiReports } = await load('/test/support/api-report.ts')
  mkdirSync(join(root, 'api'), { recursive: true })
  for (const { path, text } of apiReports(publicFace())) {
    writeFileSync(join(root, path), text)
    console.log(path)
  }
})
