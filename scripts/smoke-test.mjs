// node scripts/smoke-test.mjs TARBALL
//
// Uses a packed file as its users do: installs it into an empty project, runs a short program in JavaScript, compiles
// and runs one in TypeScript, and calls the command. Fails with what the failing program printed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [tarball] = process.argv.slice(2)
if (tarball === undefined) {
  console.error('Name the packed file: node scripts/smoke-test.mjs quartz-ts-0.1.0.tgz')
  process.exit(2)
}

const javascript = `import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from 'quartz-ts'

const hello = defineJob('hello', () => 'hello from JavaScript')
const scheduler = await createScheduler({ jobs: [hello] })
await scheduler.scheduleJob(JobBuilder.newJob(hello).build(), TriggerBuilder.newTrigger().startNow().build())
await scheduler.start()
console.log((await scheduler.events.next('jobWasExecuted')).context.result)
await scheduler.shutdown()
`
const typescript = `import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from 'quartz-ts'

const hello = defineJob<{ to: string }>('hello', (context) => \`hello \${context.mergedJobDataMap.to.toLowerCase()}\`)
await using scheduler = await createScheduler({ jobs: [hello] })
const job = JobBuilder.newJob(hello).usingJobData({ to: 'from TypeScript' }).build()
await scheduler.scheduleJob(job, TriggerBuilder.newTrigger().startNow().build())
await scheduler.start()
console.log(String((await scheduler.events.next('jobWasExecuted')).context.result))
`
const compilerOptions = {
  strict: true,
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2022', 'esnext.disposable'],
  types: ['node'],
  typeRoots: ['types'],
  outDir: 'out',
}

const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-smoke-'))
const run = (program, ...args) =>
  execFileSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Runs one program and holds its last line against what it must be. */
function expectLastLine(what, expected, program, ...args) {
  const line = run(program, ...args)
    .trimEnd()
    .split('\n')
    .at(-1)
  if (!expected.test(line)) throw new Error(`${what} printed ${JSON.stringify(line)} instead of ${expected}`)
  console.log(`${what}: ${line}`)
}

try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', resolve(tarball))
  writeFileSync(join(folder, 'hello.js'), javascript)
  expectLastLine('JavaScript', /^hello from JavaScript$/, process.execPath, 'hello.js')

  // The compiler and the types of Node.js are the project's own; the folder of types keeps out all others.
  mkdirSync(join(folder, 'types'))
  symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'types/node'))
  writeFileSync(join(folder, 'program.ts'), typescript)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  run(process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')
  expectLastLine('TypeScript', /^hello from typescript$/, process.execPath, 'out/program.js')

  const command = join(folder, 'node_modules/.bin/quartz-ts')
  expectLastLine('quartz-ts --version', /^\d+\.\d+\.\d+/, command, '--version')
  expectLastLine(
    'quartz-ts next',
    /T12:00:00Z/,
    command,
    'next',
    '0 0 12 * * ?',
    '--zone',
    'UTC',
    '--count',
    '1',
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
