// Runs the tests that have to do with time in several zones: a result must never depend on the machine's own zone.
// Arguments go to vitest; a JSON report per zone is written to the folder that REPORTS names.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const zones = ['UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu']
const folders = ['test/time', 'test/cron', 'test/triggers', 'test/calendars', 'test/vectors']

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const reports = process.env.REPORTS

for (const zone of zones) {
  console.log(`\nTZ=${zone}`)
  const report = reports
    ? ['--reporter=default', '--reporter=json', `--outputFile.json=${reports}/${zone.replace('/', '-')}.json`]
    : []
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--project', 'unit', ...folders, ...report, ...process.argv.slice(2)],
    { cwd: root, stdio: 'inherit', env: { ...process.env, TZ: zone } },
  )
  if (status !== 0) process.exitCode = 1
}
