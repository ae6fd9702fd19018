import { describe, expect, it } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { ScheduleOptions } from '../../src/jobs/schedule-options.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { defineSchedule } from '../../src/scheduler/define-schedule.ts'
import type { Reconciliation, ScheduleDefinition } from '../../src/scheduler/schedule-definition.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { WeeklyCalendar } from '../../src/triggers/calendars/weekly-calendar.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const work = defineJob('work', () => {})
const every = (key: string, interval: string): ScheduleDefinition =>
  defineSchedule(work, { key, every: interval })

const fixture = (): ReturnType<typeof schedulerFixture> => schedulerFixture({ jobs: [work] })

function names({ added, changed, removed, unchanged, deferred, broken }: Reconciliation): object {
  const of = (keys: Reconciliation['added']): string => keys.map(({ name }) => name).join(' ')
  const changes = { added: of(added), changed: of(changed), removed: of(removed), unchanged: of(unchanged) }
  return { ...changes, deferred, broken: of(broken) }
}

const nothing = { added: '', changed: '', removed: '', unchanged: '', deferred: false, broken: '' }

async function nextOf(scheduler: Scheduler, name: string): Promise<number | null | undefined> {
  return (await scheduler.getTrigger(triggerKey(name)))?.nextFireTimeMs
}

describe('reconcile', () => {
  it('adds, changes, removes, and leaves alone what is the same', async () => {
    const { scheduler, told } = await fixture()
    const first = await scheduler.reconcile('s', [every('a', '1m'), every('b', '1m'), every('c', '1m')])
    expect(names(first)).toEqual({ ...nothing, added: 'a b c' })
    told.length = 0
    const again = await scheduler.reconcile('s', [every('a', '1m'), every('b', '1m'), every('c', '1m')])
    expect(names(again)).toEqual({ ...nothing, unchanged: 'a b c' })
    expect(told).toEqual([])
    const second = await scheduler.reconcile('s', [every('a', '1m'), every('b', '2m'), every('d', '1m')])
    expect(names(second)).toEqual({ ...nothing, added: 'd', changed: 'b', removed: 'c', unchanged: 'a' })
    expect(told).toEqual([
      'jobUnscheduled b',
      'jobAdded b',
      'jobScheduled b',
      'jobAdded d',
      'jobScheduled d',
      'jobDeleted c',
    ])
  })

  })

  it('may be awaited in a listener of what it does, as may a start', async () => {
    const { scheduler, told } = await fixture()
    const declared: Promise<unknown>[] = []
    scheduler.listenerManager.addSchedulerListener({
      jobAdded: async ({ key: { name } }) => {
        if (name !== 'a') return
        const second = scheduler.reconcile('t', [every('c', '1m')])
        declared.push(second)
        await second
        await scheduler.start()
      },
    })
    const first = await scheduler.reconcile('s', [every('a', '1m'), every('b', '1m')])
    expect(names(first)).toEqual({ ...nothing, added: 'a b' })
    expect(declared).toHaveLength(1)
    // Each set in its order.
    expect(told.filter((each) => /^job.* [ab]$/.test(each))).toEqual([
      'jobAdded a',
      'jobScheduled a',
      'jobAdded b',
      'jobScheduled b',
    ])
    expect(scheduler.isStarted).toBe(true)
    await scheduler.shutdown()
