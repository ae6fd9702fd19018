import { JobKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { busyScheduler, script } from './dashboard-data.ts'

/** In memory; one group has a limit. */
function ownStore(): JobStore {
  return sqliteJobStore({ filename: ':memory:', history: { record: 'all' }, jobGroupLimits: { mail: 5 } })
}

/** A busy scheduler that fires soon, by a calendar, has missed fires, and a group that is paused. */
export async function plannedScheduler(jobStore: JobStore = ownStore()): Promise<Scheduler> {
  const served = await busyScheduler(jobStore)
  await served.pauseTriggers(GroupMatcher.groupEquals('later'))
  const soon = TriggerBuilder.newTrigger()
    .withIdentity('soon', 'reports')
    .forJob(new JobKey('good', 'reports'))
    .startAt(new Date(served.getMetaData().runningSince?.getTime() ?? 0))
    .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever(2))
    .modifiedByCalendar('holidays')
    .build()
  await served.scheduleJob(soon)
  const missed = soon
    .getTriggerBuilder()
    .withIdentity('missed', script)
    .modifiedByCalendar(null)
    .startAt(new Date(soon.startTimeMs - 7_200_000))
    .build()
  await served.scheduleJob(missed)
  await served.skipNextFire(missed.key)
  return served
}
