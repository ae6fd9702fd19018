import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { loadAverage } from './machine.mjs'
import { summaryOf } from './stats.mjs'

const child = fileURLToPath(new URL('child.mjs', import.meta.url))

/** What a run for rot may take; one that waits for what does not come ends here, by name. */
const onceLimitMs = 180_000

/**
 * Runs every variant of a benchmark in fresh processes, round after round, so that a noisy minute of the machine
 * touches all variants alike. Answers the medians with their spread.
 */
export async function runRounds(benchmark, options, onProgress) {
  const rounds = options.once ? 1 : (options.rounds ?? benchmark.rounds)
  const samples = new Map()
  const loads = []
  for (let round = 0; round < rounds; round++) {
    for (const variant of benchmark.variants) {
      onProgress(`${benchmark.name}: ${variant}, round ${round + 1} of ${rounds}`)
      loads.push(loadAverage())
      const roundOptions = { once: options.once, seed: options.seed + round }
      const measured = await runInFreshProcess(benchmark, variant, roundOptions)
      for (const [metric, value] of Object.entries(measured)) {
        const id = benchmark.variants.length === 1 ? metric : `${variant}: ${metric}`
        if (!samples.has(id)) samples.set(id, [])
        samples.get(id).push(value)
      }
    }
  }
  const metrics = Object.fromEntries([...samples].map(([id, values]) => [id, summaryOf(values)]))
  return { rounds, load: summaryOf(loads), metrics }
}

function runInFreshProcess(benchmark, variant, options) {
  const request = JSON.stringify({ name: benchmark.name, variant, options })
  return new Promise((resolve, reject) => {
    const started = fork(child, [request], {
      execArgv: benchmark.execArgv ?? [],
      // A machine set to another zone or to debugging flags would measure something else.
      env: { ...process.env, TZ: 'UTC', NODE_OPTIONS: '' },
      silent: true,
    })
    const limit = options.once
      ? setTimeout(() => {
          errors += `It was ended after ${onceLimitMs / 1000} s.`
          started.kill('SIGKILL')
        }, onceLimitMs)
      : undefined
    let measured = null
    let errors = ''
    started.stdout.resume()
    started.stderr.on('data', (chunk) => {
      errors = (errors + chunk).slice(-2000)
    })
    started.on('message', (message) => {
      measured = message
    })
    started.on('error', reject)
    started.on('exit', (code, signal) => {
      clearTimeout(limit)
      if (code === 0 && measured !== null) resolve(measured)
      else reject(new Error(`${benchmark.name}, ${variant}: ended with ${signal ?? code}.\n${errors}`))
    })
  })
}
