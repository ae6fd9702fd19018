// Runs a cluster of three nodes with every fault for hours: npm run soak -- --hours 1 [--seed 42]
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { hours: { type: 'string', default: '1' }, seed: { type: 'string' } },
})
const hours = Number(values.hours)
if (!(hours > 0 && hours <= 168)) {
  console.error(`--hours takes a number of hours from 0.01 to 168, and not '${values.hours}'`)
  process.exit(2)
}
const env = { ...process.env, QUARTZ_TS_SOAK_HOURS: String(hours) }
if (values.seed !== undefined) env.QUARTZ_TS_CHAOS_SEED = values.seed

const root = fileURLToPath(new URL('..', import.meta.url))
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    'test/chaos/soak.test.ts',
    '--project=chaos',
    '--disable-console-intercept',
  ],
  { cwd: root, stdio: 'inherit', env },
)
process.exitCode = status ?? 1
