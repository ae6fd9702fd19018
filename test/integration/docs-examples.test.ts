import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { beforeAll, describe, test } from 'vitest'
import { docsExamples, type Example, examplesFolder } from '../support/docs-examples.ts'
import { projectRoot } from '../support/source-files.ts'

const run = promisify(execFile)
const examples = docsExamples()

/** Writes an example as the JavaScript that Node runs, where a package may import itself by its name. */
function write({ path, code }: Example): string {
  const target = join(projectRoot, path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      rewriteRelativeImportExtensions: true,
    },
  })
  writeFileSync(target, outputText)
  return target
}

beforeAll(() => {
  rmSync(join(projectRoot, examplesFolder), { recursive: true, force: true })
  for (const example of examples) write(example)
})

describe('examples of README and docs run', { concurrent: true }, () => {
  const runnable = examples.filter(({ kind }) => kind === 'run')

  test.each(runnable)('$name ends by itself', async ({ path }) => {
    const target = path.replace(/\.ts$/, '.js')
    await run(process.execPath, [target], { cwd: projectRoot, timeout: 30_000, killSignal: 'SIGKILL' })
  })
})
