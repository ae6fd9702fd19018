import assert from 'node:assert/strict'
import {
  type JobDetail,
  SimpleScheduleBuilder,
  type Trigger,
  TriggerBuilder,
  TriggerKey,
  WeeklyCalendar,
} from 'quartz-ts'
import type { JobStore, TriggerFamily } from 'quartz-ts/spi'
import { expect, it } from 'vitest'
import { recoveringJobsGroup } from '../../src/core/key.ts'
import { jobDetail, misfireThresholdMs, only, Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import {
  type SlowingFields,
  SlowingTrigger,
  slowingFamily,
  slowingSchedule,
  slowingTriggers,
} from './slowing-trigger.ts'
import type { StoreMaker } from './sql-stores.ts'

/** A node on the data of one test; `knowing` says whether it was given the family. */
type OpenNode = (instanceId: string, options?: { readonly knowing: boolean }) => Promise<Testbed>

function nodesOf(create: () => JobStore): OpenNode {
  const clock = new ManualClock()
  return async (instanceId, { knowing } = { knowing: true }) => {
    const bed = new Testbed(create(), clock, instanceId, knowing ? slowingTriggers : undefined)
    await bed.store.initialize(bed.context)
    return bed
  }
}

/** A slowing trigger that fires now, then after a minute, then after two more, and so on. */
function slowing(bed: Testbed, changes: Partial<SlowingFields> = {}): SlowingTrigger {
  const schedule: SlowingFields = {
    firstGapMs: 60_000,
    growthMs: 60_000,
    repeatCount: 9,
    misfireInstruction: 'smart',
    ...changes,
  }
  return TriggerBuilder.newTrigger({ clock: bed.clock })
    .withIdentity('s')
    .forJob(bed.job)
    .startAt(new Date(bed.now()))
    .modifiedByCalendar('open')
    .usingJobData({ n: 1 })
    .withSchedule(slowingSchedule(schedule))
    .build()
    .computeFirstFireTime(null)
}

/** A simple trigger, once a minute. */
function plain(bed: Testbed): Trigger {
  return TriggerBuilder.newTrigger({ clock: bed.clock })
    .withIdentity('plain')
    .forJob(bed.job)
    .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever().withMisfireInstruction('ignore'))
    .build()
    .computeFirstFireTime(null)
}

async function scheduled(
  bed: Testbed,
  changes: Partial<SlowingFields> = {},
  job: JobDetail = bed.job,
): Promise<SlowingTrigger> {
  const always = new WeeklyCalendar({ excludedDays: [], timeZone: 'UTC' })
  await bed.store.addCalendar('open', always, { replace: true, updateTriggers: false })
  const trigger = slowing(bed, changes).withJobKey(job.key)
  await bed.scheduleAll([trigger], job)
  return trigger
}

/** What a family must be able to do in a store on tables, which keeps nothing of a trigger but its columns. */
const cases: Readonly<Record<string, (open: OpenNode, create: () => JobStore) => Promise<void>>> = {
  'fires by its rule, read back by a node that did not store it': async (open) => {
    const first = await open('first')
    const trigger = await scheduled(first)
    await first.store.shutdown()
    const second = await open('second')
    expect(await second.stored('s')).toEqual(trigger)
    const startMs = second.now()
    for (const [index, afterMs] of [0, 60_000, 180_000, 360_000].entries()) {
      await second.clock.advance(startMs + afterMs - second.now())
      const bundle = await second.start('s')
      expect(bundle.scheduledFireTimeMs).toBe(startMs + afterMs)
      expect(bundle.trigger.timesTriggered).toBe(index + 1)
      await second.complete(bundle)
    }
    expect(await second.stored('s')).toBeInstanceOf(SlowingTrigger)
    await second.store.shutdown()
  },
  'keeps what a misfire changes of its schedule': async (open) => {
    const first = await open('first')
    await scheduled(first)
    await first.complete(await first.start('s'))
    await first.clock.advance(60_000 + misfireThresholdMs)
    await first.store.releaseAcquiredTriggers([await first.acquireOne('s')])
    await first.store.shutdown()
    const second = await open('second')
    const stored = await second.stored('s')
    assert.ok(stored instanceof SlowingTrigger)
    const { repeatCount, timesTriggered, startTimeMs, nextFireTimeMs } = stored
    expect([repeatCount, timesTriggered]).toEqual([8, 0])
    expect([startTimeMs, nextFireTimeMs]).toEqual([second.now(), second.now()])
    await second.store.shutdown()
  },
  'is listed by its name, and moved by a calendar that is replaced': async (open) => {
    const bed = await open('node')
    await scheduled(bed)
    expect(only((await bed.store.queryTriggers({})).items).type).toBe('slowing')
    await bed.complete(await bed.start('s'))
    const weekday = new Date(bed.now()).getUTCDay() + 1
    const closed = new WeeklyCalendar({ excludedDays: [weekday], timeZone: 'UTC' })
    await bed.store.addCalendar('open', closed, { replace: true, updateTriggers: true })
    const { nextFireTimeMs } = await bed.stored('s')
    expect(nextFireTimeMs === null || closed.isTimeIncluded(nextFireTimeMs)).toBe(true)
    expect(nextFireTimeMs).not.toBe(bed.now() + 60_000)
    await bed.store.shutdown()
  },
  'is recovered where its node failed': async (open) => {
    const first = await open('node')
    const job = jobDetail('wanted', { durable: true, requestsRecovery: true })
    await scheduled(first, {}, job)
    const { scheduledFireTimeMs } = await first.start('s')
    await first.store.shutdown()
    const second = await open('node')
    await second.store.schedulerStarted()
    const recovery = only(
      (await second.acquire()).filter(({ trigger }) => trigger.key.group === recoveringJobsGroup),
    )
    expect(recovery.trigger.nextFireTimeMs).toBe(scheduledFireTimeMs)
    expect((await second.stored('s')).nextFireTimeMs).toBe(scheduledFireTimeMs + 60_000)
    await second.store.shutdown()
  },
  'is in error on a node without its family, and comes back on one that has it': async (open) => {
    const knowing = await open('knowing')
    const trigger = await scheduled(knowing)
    await knowing.store.shutdown()
    const without = await open('without', { knowing: false })
    expect(only((await without.store.queryTriggers({})).items).type).toBe('unknown')
    await expect(without.store.getTrigger(trigger.key)).rejects.toMatchObject({ code: 'ERR_BROKEN_ROW' })
    expect(await without.acquireNames()).toEqual([])
    expect(await without.state('s')).toBe('ERROR')
    await without.store.shutdown()
    const again = await open('knowing')
    expect(await again.store.resetTriggerFromErrorState(trigger.key)).toBe(true)
    expect(await again.acquireNames()).toEqual(['s'])
    await again.store.shutdown()
  },
  'goes to ERROR alone when its misfire leaves what its columns cannot hold': async (_open, create) => {
    const halves: TriggerFamily<SlowingTrigger> = {
      ...slowingFamily,
      toColumns: (trigger) => ({ ...slowingFamily.toColumns(trigger), int_prop_1: trigger.repeatCount / 3 }),
      fromColumns: (fields, row, misfireInstruction) =>
        new SlowingTrigger(fields, {
          firstGapMs: row.integer('long_prop_1'),
          growthMs: row.integer('long_prop_2'),
          repeatCount: row.integer('int_prop_1') * 3,
          misfireInstruction,
        }),
    }
    const bed = new Testbed(create(), new ManualClock(), 'node', { ...slowingTriggers, family: halves })
    await bed.store.initialize(bed.context)
    await scheduled(bed)
    await bed.scheduleAll([plain(bed)])
    await bed.complete(await bed.start('plain'))
    await bed.complete(await bed.start('s'))
    await bed.clock.advance(60_000 + misfireThresholdMs)
    expect(await bed.acquireNames()).toEqual(['plain'])
    expect(await bed.states('s', 'plain')).toEqual(['ERROR', 'NORMAL'])
    await bed.store.shutdown()
  },
  'is refused by a store without its family, and by one whose columns cannot hold it': async (open) => {
    const knowing = await open('knowing')
    await expect(scheduled(knowing, { repeatCount: 2 ** 40 })).rejects.toMatchObject({
      code: 'ERR_INVALID_TRIGGER',
      field: 'repeatCount',
    })
    await knowing.store.shutdown()
    const without = await open('without', { knowing: false })
    await expect(scheduled(without)).rejects.toMatchObject({ code: 'ERR_INVALID_TRIGGER', field: 'type' })
    expect(await without.store.getTrigger(new TriggerKey('s'))).toBe(null)
    await without.store.shutdown()
  },
}

export function triggerFamilyCases(stores: StoreMaker): void {
  it.each(Object.entries(cases))('%s', async (_name, body) => {
    const create = await stores.prepare()
    await body(nodesOf(create), create)
  })
}
