import { createScheduler, defineJob, GroupMatcher, jobKey, type Scheduler, triggerKey } from 'quartz-ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

async function open(): Promise<Scheduler> {
  const newStore = await stores.prepare()
  const jobs = [defineJob('job', () => {})]
  const scheduler = await createScheduler({ jobStore: newStore(), jobs, logger: false })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.schedule('job', { key: 'a', in: '1h' })
  return scheduler
}

describe.each([
  ['a NUL', 'a\0'],
  ['half of a surrogate pair', 'a\ud800'],
])('a text with %s, which no column of PostgreSQL can hold,', (_, odd) => {
  test('is looked for and found nowhere', async () => {
    const scheduler = await open()
    const nothing = { items: [], next: null }
    const pages = [
      scheduler.queryJobs({ jobType: odd }),
      scheduler.queryTriggers({ name: odd }),
      scheduler.queryTriggers({ calendarName: odd }),
      scheduler.queryExecutions({ jobKey: jobKey(odd) }),
      scheduler.queryExecutions({
        node: odd,
        errorContains: odd,
        jobGroup: odd,
        data: { key: odd, value: odd },
      }),
      scheduler.queryMisfires({ jobKey: jobKey(odd), triggerKey: triggerKey(odd), jobGroup: odd }),
      scheduler.queryAudit({ by: odd, operation: odd }),
      scheduler.queryExecutionLog(odd),
    ]
    expect(await Promise.all(pages)).toEqual(pages.map(() => nothing))
    await expect(scheduler.getExecution(odd)).resolves.toBeNull()
    await expect(scheduler.getTriggerState(triggerKey(odd))).resolves.toBe('NONE')
    await expect(scheduler.pauseTriggers(GroupMatcher.groupContains(odd))).resolves.toEqual([])
    await expect(scheduler.resumeJobs(GroupMatcher.groupStartsWith(odd))).resolves.toEqual([])
  })

  test('is refused as the group of a pause', async () => {
    const scheduler = await open()
    const refused = { code: 'ERR_INVALID_ARGUMENT', field: 'group' }
    const group = GroupMatcher.groupEquals(odd)
    await expect(scheduler.pauseTriggers(group)).rejects.toMatchObject(refused)
    await expect(scheduler.pauseJobs(group)).rejects.toMatchObject(refused)
    await expect(scheduler.resumeTriggers(group)).resolves.toEqual([])
  })
})
