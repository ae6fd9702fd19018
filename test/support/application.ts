import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { packedProject } from './packed-package.ts'
import { projectRoot } from './source-files.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** An application as the container file and the unit expect it: settings in JavaScript, the package beside them. */
export function application(extra = ''): string {
  const folder = temporaryFolder('quartz-ts-application-')
  const installed = join(folder, 'node_modules/quartz-ts')
  mkdirSync(dirname(installed))
  symlinkSync(projectRoot, installed)
  return withSettings(folder, extra)
}

/** The same with the packed file. */
export async function packedApplication(): Promise<string> {
  const folder = await packedProject(['better-sqlite3', 'hono', '@hono/node-server', 'zod'])
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return withSettings(folder)
}

/** `extra` is code that the settings have besides. */
function withSettings(folder: string, extra = ''): string {
  const text = `import { defineJob } from 'quartz-ts'
import { defineConfig } from 'quartz-ts/config'

${extra}
const hello = defineJob('hello', () => 'hello')
// It goes on whatever it is told, and keeps its process.
const deaf = defineJob('deaf', () => new Promise((resolve) => setTimeout(resolve, 3_600_000)))
export default defineConfig({
  jobStore: 'sqlite:jobs.db',
  serve: { port: 0 },
  scheduler: { jobs: [hello, deaf], interruptGraceMs: 1 },
})
`
  writeFileSync(join(folder, 'quartz-ts.config.mjs'), text)
  return folder
}

/** Ends with the test. */
export function start(
  args: readonly string[],
  cwd: string,
  stderr: 'inherit' | number = 'inherit',
): ChildProcess {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', stderr] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

/** Resolves with the output once it matches; rejects when the process ends before. */
export function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (pattern.test(text)) resolve(text)
    })
    child.once('close', () => {
      reject(new Error(`ended: ${text}`))
    })
  })
}

export const endOf = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(code ?? signal)
    })
  })

/** Where `quartz-ts serve` says that it answers, on this machine. */
export function addressIn(text: string): { readonly address: string; readonly token: string } {
  const [, port = '', token = ''] = /http:\/\/[^:]+:(\d+)\/#token=(\S+)/.exec(text) ?? []
  return { address: `http://127.0.0.1:${port}`, token }
}
