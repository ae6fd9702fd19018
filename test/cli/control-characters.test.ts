import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { serverFixture, tokens } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { runNow } from './fake-host.ts'

async function place() {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const run = async (...args: readonly string[]): Promise<string> => {
    const { out } = await runNow([...args, '--server', fixture.address], { QUARTZ_TS_TOKEN: tokens.admin })
    return out
  }
  return { scheduler: fixture.scheduler, run }
}

test('the target of an entry of the audit has signs for them, and is that of no other', async () => {
  const { scheduler, run } = await place()
  await run('run', 'job', 'x\u001b]0;PWN\u0007\u001b[31m/red\tblue')
  await scheduler.idle()
  expect(await run('audit')).toMatch(/jobs\.run +x␛]0;PWN␇␛\[31m\/red␉blue +failed/)
})

test('the name of a calendar has signs for them, and is that of no other', async () => {
  const { scheduler, run } = await place()
  const name = 'x\u001b[31m red'
  await scheduler.addCalendar(name, new HolidayCalendar({ timeZone: 'UTC', excludedDates: [] }))
  const file = join(temporaryFolder(), 'all.json')
  await run('export', '--out', file)
  await scheduler.deleteCalendar(name)
  expect(await run('import', file, '--dry-run')).toContain('+ calendar x␛[31m red\n')
  await run('import', file)
  const trigger = TriggerBuilder.newTrigger()
    .forJob('daily', 'reports')
    .withIdentity('away', 'calendar')
    .modifiedByCalendar(name)
    .startAt(new Date(Date.UTC(2199, 0, 1)))
  await scheduler.scheduleJob(trigger.build())
  expect(await run('triggers', '--group', 'calendar')).toMatch(/calendar\/away .*x␛\[31m red/)
  expect(await run('triggers', 'calendar/away')).toMatch(/calendar +x␛\[31m red/)
})
