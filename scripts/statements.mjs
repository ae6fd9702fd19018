// Prints every SQL statement into docs/internals/statements.sql: `npm run statements`. With --check it compares only;
// exit code 1 when the file is not what would be printed. The sources are run as they are, through vite.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { withSources } from './lib/sources.mjs'

const page = new URL('../docs/internals/statements.sql', import.meta.url)
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

await withSources(async (load) => {
  const { printStatements } = await load('/test/support/print-statements.ts')
  const text = printStatements()
  if (!values.check) writeFileSync(page, text)
  else if (readFileSync(page, 'utf8') !== text) {
    console.error('docs/internals/statements.sql is not what the code says; run `npm run statements`.')
    process.exitCode = 1
  }
})
