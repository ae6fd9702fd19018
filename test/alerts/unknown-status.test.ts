import { expect, it } from 'vitest'
import { failedInARow, noSuccessWithin } from '../../src/alerts.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { jobKey, ramJobStore } from '../../src/index.ts'
import { recorded, rigWith } from './alerts-rig.ts'

it('rules about how jobs end raise nothing where the store does not note it, and the log says so once', async () => {
  const warned: string[] = []
  const logger = {
    ...silentLogger,
    warn: (fields: object, message: string) => {
      warned.push(`${message} ${String(Reflect.get(fields, 'err'))}`)
    },
  }
  const channel = recorded()
  const rules = [failedInARow(3), noSuccessWithin(jobKey('job'), 60_000)]
  const jobStore = ramJobStore({ jobStatus: false })
  const { clock } = await rigWith(rules, [channel], {}, { jobStore, logger })
  await clock.advance(120_000)
  expect(channel.notices).toEqual([])
  const why = expect.stringContaining('`jobStatus: false`') as string
  expect(warned).toEqual([why, why])
  expect(warned.map((line) => line.slice(0, 45)).sort()).toEqual([
    "The alert rule 'failed-in-a-row' cannot be ch",
    "The alert rule 'no-success:DEFAULT.job' canno",
  ])
})
