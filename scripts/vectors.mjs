// Compares the library with recorded results: `npm run vectors -- --dir DIR` (default test/vectors). Prints rows passed
// and failed per file; exit code 1 when a row fails or there is none. The sources are run as they are, through vite.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root, withSources } from './lib/sources.mjs'

const { values } = parseArgs({ options: { dir: { type: 'string', default: 'test/vectors' } } })
// npm changes to the project's folder; a relative path is meant from where the command was typed.
const from = values.dir === 'test/vectors' ? root : (process.env.INIT_CWD ?? process.cwd())

await withSources(async (load) => {
  const { describeReports, exitCodeOf, runVectors } = await load('/test/support/vectors/run-vectors.ts')
  const reports = runVectors(resolve(from, values.dir))
  console.log(reports.length === 0 ? `No .jsonl file in ${values.dir}` : describeReports(reports))
  process.exitCode = exitCodeOf(reports)
})
