// npm run bench -- [NAME...] [--once] [--rounds N] [--seed N] [--list]
//
// Runs the named benchmarks, or all of them, against the built package. `--once` runs each one small and once, to see
// that none has rotted; its numbers mean nothing and no goal is held against them.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { benchmarks } from './cases/index.mjs'
import { describeMachine, describeVersions } from './lib/machine.mjs'
import { startPostgres } from './lib/postgres.mjs'
import { formatBenchmark, judge, writeResults } from './lib/report.mjs'
import { runRounds } from './lib/rounds.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    once: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '20260101' },
  },
})

if (values.list) {
  for (const { name, title } of benchmarks) console.log(`${name.padEnd(16)} ${title}`)
  process.exit(0)
}

const unknown = positionals.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name))
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(', ')}. Choose from ${benchmarks.map((b) => b.name).join(', ')}.`,
  )
  process.exit(2)
}

if (!existsSync(`${here}node_modules`)) {
  console.log('Installing the packages to compare with (bench/package-lock.json)')
  execFileSync('npm', ['ci'], { cwd: here, stdio: 'inherit', shell: process.platform === 'win32' })
}

const options = {
  once: values.once,
  rounds: values.rounds === undefined ? undefined : positiveInteger('rounds', values.rounds),
  seed: positiveInteger('seed', values.seed),
}
const chosen =
  positionals.length === 0 ? benchmarks : benchmarks.filter(({ name }) => positionals.includes(name))
const report = {
  startedAt: new Date().toISOString(),
  machine: describeMachine(),
  versions: describeVersions(),
  seed: options.seed,
  once: options.once,
  benchmarks: [],
}
const { cpu, cores, memoryGb, node } = report.machine
console.log(`${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}, seed ${options.seed}`)

const stopPostgres = chosen.some(({ needs }) => needs === 'postgres') ? await startPostgres() : null
let missed = 0
const failed = []
try {
  for (const benchmark of chosen) {
    try {
      await measure(benchmark)
    } catch (error) {
      if (!options.once) throw error
      // The others may have rotted as well.
      console.error(error)
      failed.push(benchmark.name)
    }
  }
} finally {
  await stopPostgres?.()
}
console.log(`\nWritten to ${writeResults(report)}`)
if (missed > 0) console.log(`${missed} goals missed`)
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`)
  process.exitCode = 1
}

async function measure(benchmark) {
  const outcome = await runRounds(benchmark, options, (message) => {
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${message}`)
  })
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
  const goals = options.once ? [] : judge(benchmark.goals((id) => outcome.metrics[id].median))
  missed += goals.filter(({ met }) => !met).length
  console.log(formatBenchmark(benchmark, { ...outcome, goals }))
  report.benchmarks.push({ name: benchmark.name, title: benchmark.title, ...outcome, goals })
}

function positiveInteger(name, text) {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  console.error(`--${name} must be a whole number from 1, got '${text}'.`)
  process.exit(2)
}
