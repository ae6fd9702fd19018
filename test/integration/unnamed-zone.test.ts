import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const entry = new URL('../../dist/index.js', import.meta.url).href

/** Makes a scheduler, and shows its warnings and the zone of a schedule that names none. */
const program = `
  const { createScheduler, CronExpression } = await import('${entry}')
  const warnings = []
  const logger = { debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} }
  const scheduler = await createScheduler({ logger })
  await scheduler.shutdown()
  console.log(JSON.stringify({ warnings, zone: CronExpression.parse('0 0 7 * * ?').timeZone }))
`

async function underZone(TZ: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, TZ },
  })
  return JSON.parse(stdout)
}

test.each(['GMT+2', 'EST5EDT4', 'Foo/Bar', '+02:00'])('TZ=%s means UTC, which is said', async (TZ) => {
  const warning = expect.stringContaining(
    `TZ '${TZ}' is no IANA name: times without a zone are in UTC.`,
  ) as string
  expect(await underZone(TZ)).toEqual({ warnings: [warning], zone: 'UTC' })
})

test.each([
  ['Europe/Paris', 'Europe/Paris'],
  ['UTC', 'UTC'],
  ['utc', 'UTC'],
  ['Etc/GMT', 'UTC'],
  ['GMT0', 'UTC'],
  ['', 'UTC'],
])("nothing is said of TZ='%s'", async (TZ, zone) => {
  expect(await underZone(TZ)).toEqual({ warnings: [], zone })
})
