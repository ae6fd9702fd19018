// Runs one variant of one benchmark in a process of its own and sends what it measured to the parent.
import { benchmarks } from '../cases/index.mjs'

const { name, variant, options } = JSON.parse(process.argv[2] ?? '{}')
const benchmark = benchmarks.find((candidate) => candidate.name === name)
if (benchmark === undefined) throw new Error(`There is no benchmark '${name}'.`)
const measured = await benchmark.run(variant, options)
await new Promise((resolve) => {
  process.send(measured, resolve)
})
process.exit(0)
