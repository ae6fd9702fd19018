// Writes openapi.json and docs/reference/http-api.md from the operations of src/server: `npm run openapi`. A test
// compares them with the code.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, withSources } from './lib/sources.mjs'

const page = join(root, 'docs/reference/http-api.md')

await withSources(async (load) => {
  const { catalogue } = await load('/src/server/catalogue/catalogue.ts')
  const { openApiDocument } = await load('/src/server/openapi/document.ts')
  const { operationsAsMarkdown } = await load('/src/server/openapi/markdown.ts')
  const document = openApiDocument(catalogue)
  writeFileSync(join(root, 'openapi.json'), `${JSON.stringify(document, null, 1)}\n`)
  writeFileSync(page, operationsAsMarkdown(document, catalogue))
})
execFileSync(process.execPath, [join(root, 'scripts/wrap-docs.mjs'), page])
