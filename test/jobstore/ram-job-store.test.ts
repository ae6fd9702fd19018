import { describe, expect, test } from 'vitest'
import { ObjectAlreadyExistsError } from '../../src/core/errors.ts'
import type { JobStoreContext } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import type { SchedulerSignaler } from '../../src/jobstore/scheduler-signaler.ts'
import { RecordingSignaler } from '../../src/testing/job-store/recording-signaler.ts'
import { storedCounts } from '../../src/testing/job-store/stored.ts'
import { jobDetail, misfireThresholdMs, only, Testbed } from '../../src/testing/job-store/testbed.ts'
import { systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'

async function openBed(changes: Partial<JobStoreContext> = {}): Promise<Testbed> {
  const bed = new Testbed(new RAMJobStore(), new ManualClock(), 'node')
  await bed.store.initialize({ ...bed.context, ...changes })
  return bed
}

const throwing: Calendar = {
  type: 'throwing',
  description: null,
  baseCalendar: null,
  isTimeIncluded: () => {
    throw new Error('no such year')
  },
  nextIncludedTime: (timeMs) => timeMs + 1,
  toJSON: () => ({ type: 'throwing' }),
}

function putThrowingCalendar(bed: Testbed, options: { updateTriggers: boolean }): Promise<void> {
  return bed.store.addCalendar('throwing', throwing, { replace: true, ...options })
}

describe('RAMJobStore', () => {
  test('lets others have their turn while it looks at the triggers of a new calendar', async () => {
    let elapsedMs = 0
    let questions = 0
    let askedByThen = 0
    let meanwhile: Promise<unknown> = Promise.resolve()
    const clock = { ...systemClock, now: () => 0, elapsedMs: () => elapsedMs }
    const bed = await openBed({ clock })
    const slow: Calendar = {
      ...throwing,
      isTimeIncluded() {
        elapsedMs += 2
        questions++
        return true
      },
    }
    await bed.store.addCalendar('slow', slow, { replace: false, updateTriggers: false })
    const names = Array.from({ length: 20 }, (_, index) => `t${index}`)
    for (const name of names) await bed.schedule(name, { calendar: 'slow', inMs: 60_000, everyMs: 60_000 })
    const { key } = await bed.stored('t0')
    questions = 0
    setImmediate(() => {
      askedByThen = questions
      const other = bed.trigger('t0', { calendar: 'slow', inMs: 90_000, everyMs: 60_000 })
      meanwhile = bed.store.rescheduleTrigger(key, other)
    })
    await bed.store.addCalendar('slow', { ...slow }, { replace: true, updateTriggers: true })
    await meanwhile
    expect(askedByThen).toBeLessThan(10)
    expect(questions).toBe(22)
    const nextFireTimes = await Promise.all(
      names.map(async (name) => (await bed.stored(name)).nextFireTimeMs),
    )
    expect(new Set(nextFireTimes.slice(1)).size).toBe(1)
    expect(nextFireTimes[0]).toBe((nextFireTimes[1] ?? 0) + 30_000)
  })

  test('refuses a calendar whose name is taken before it looks at any trigger', async () => {
    const bed = await openBed()
    await bed.store.addCalendar(
      'taken',
      { ...throwing, isTimeIncluded: () => true },
      { replace: false, updateTriggers: false },
    )
    await bed.schedule('t', { calendar: 'taken', everyMs: 1000 })
    const again = bed.store.addCalendar('taken', throwing, { replace: false, updateTriggers: true })
    await expect(again).rejects.toBeInstanceOf(ObjectAlreadyExistsError)
  })

  test('refuses to work before it is initialized', async () => {
    const store = new RAMJobStore()
    const request = { noLaterThanMs: 0, maxCount: 1, timeWindowMs: 0 }
    await expect(store.acquireNextTriggers(request)).rejects.toMatchObject({ code: 'ERR_SCHEDULER_STATE' })
    await expect(store.pauseAll()).rejects.toMatchObject({ code: 'ERR_SCHEDULER_STATE' })
  })

  test('is empty after shutdown and takes the ends of executions that outlived it', async () => {
    const bed = await openBed()
    await bed.schedule('t', { everyMs: 1000 })
    const bundle = await bed.start('t')
    await bed.store.shutdown()
    expect(await storedCounts(bed.store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
    await bed.complete(bundle, 'setAllJobTriggersError')
    expect(bed.signals.inError).toEqual([])
  })

  test('gives fire instance ids that no other run of the process gives', async () => {
    const ids = ['first run', 'second run'].map(async (name) => {
      const bed = await openBed({ ids: { uniqueName: () => name, random: () => 0 } })
      await bed.schedule('t')
      return (await bed.acquireOne('t')).fireInstanceId
    })
    const [first, second] = await Promise.all(ids)
    expect(first).not.toBe(second)
  })

  test('puts a trigger in error whose own methods throw, and fires the others', async () => {
    const bed = await openBed()
    const sick = (name: string, method: 'triggered' | 'updateAfterMisfire') => {
      const thrower = (): never => {
        throw new Error(`no ${method}`)
      }
      const trigger = bed.trigger(name, { everyMs: 1000 })
      return Object.defineProperty(trigger, method, { value: thrower })
    }
    await bed.scheduleAll([sick('a', 'triggered'), bed.trigger('well', { everyMs: 1000 })])
    const kinds = (await bed.store.triggersFired(await bed.acquire())).map(({ kind }) => kind)
    expect(kinds).toEqual(['gone', 'fired'])
    await bed.scheduleAll([sick('b', 'updateAfterMisfire')])
    await bed.clock.advance(misfireThresholdMs)
    expect(await bed.acquireNames()).toEqual(['well'])
    expect(await bed.states('a', 'b', 'well')).toEqual(['ERROR', 'ERROR', 'NORMAL'])
    expect(bed.signals.inError).toEqual([
      { key: 'DEFAULT.a', reason: 'no triggered' },
      { key: 'DEFAULT.b', reason: 'no updateAfterMisfire' },
    ])
  })

  test('keeps the old calendar when the new one throws while triggers are moved', async () => {
    const bed = await openBed()
    await bed.store.addCalendar(
      'throwing',
      { ...throwing, isTimeIncluded: () => true },
      { replace: false, updateTriggers: false },
    )
    const trigger = await bed.schedule('t', { calendar: 'throwing', everyMs: 1000 })
    await expect(putThrowingCalendar(bed, { updateTriggers: true })).rejects.toThrow('no such year')
    expect((await bed.store.getCalendar('throwing'))?.isTimeIncluded(0)).toBe(true)
    expect(await bed.stored('t')).toBe(trigger)
  })

  test('lets other work go first while it moves very many late triggers', async () => {
    const bed = await openBed()
    const names = Array.from({ length: 3000 }, (_, index) => `t${String(index)}`)
    const late = { everyMs: 3_600_000, misfire: 'rescheduleNextWithExistingCount' } as const
    await bed.scheduleAll(names.map((name) => bed.trigger(name, late)))
    await bed.clock.advance(misfireThresholdMs)
    const order: string[] = []
    const acquiring = bed.acquire().then(() => order.push('acquired'))
    const other = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push('other work')
        resolve()
      })
    })
    const deleting = bed.store.deleteTriggers([bed.trigger('t2999').key])
    await Promise.all([acquiring, other, deleting])
    expect(order).toEqual(['other work', 'acquired'])
    expect(bed.signals.misfired).toHaveLength(2999)
  })

  test('is whole when the scheduler hears of a change, so that it may call back at once', async () => {
    const answers: Promise<unknown>[] = []
    const store = new RAMJobStore()
    const bed = new Testbed(store, new ManualClock(), 'node')
    const callBack = (): void => {
      answers.push(store.deleteJobs([bed.job.key]), storedCounts(store))
    }
    const signaler: Partial<SchedulerSignaler> = {
      triggerMisfired: callBack,
      triggerFinalized: callBack,
      jobDeleted: callBack,
      triggerInError: callBack,
      storeError: callBack,
    }
    await store.initialize({ ...bed.context, signaler: Object.assign(new RecordingSignaler(), signaler) })
    await bed.scheduleAll([
      bed.trigger('a'),
      bed.trigger('b', { misfire: 'rescheduleNextWithExistingCount' }),
    ])
    await bed.clock.advance(misfireThresholdMs)
    const claim = only(await bed.acquire())
    expect(await bed.fireKind(claim)).toBe('gone')
    await Promise.all(answers)
    expect(answers).not.toHaveLength(0)
    expect(await storedCounts(store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
  })

  test('announces a trigger that comes before a claimed one of the same non-concurrent job', async () => {
    const bed = await openBed()
    const job = jobDetail('exclusive', { disallowConcurrentExecution: true, durable: true })
    await bed.schedule('late', { job, inMs: 20_000 })
    await bed.acquire({ noLaterThanMs: bed.now() + 20_000 })
    bed.signals.clear()
    const early = await bed.schedule('early', { job, inMs: 5000 })
    expect(bed.signals.announced(early.startTimeMs)).toBe(true)
  })

  test.each([false, true])(
    'fires 20,000 triggers of one job without walking them each time (disallowConcurrentExecution %s)',
    async (disallowConcurrentExecution) => {
      const bed = await openBed()
      const job = jobDetail('many', { disallowConcurrentExecution })
      const names = Array.from({ length: 20_000 }, (_, index) => `t${String(index)}`)
      await bed.scheduleAll(
        names.map((name) => bed.trigger(name, { job })),
        job,
      )
      let fired = 0
      for (;;) {
        const results = await bed.store.triggersFired(await bed.acquire({ maxCount: 50 }))
        if (results.length === 0) break
        for (const result of results) {
          if (result.kind !== 'fired') throw new Error(`unexpected result ${result.kind}`)
          await bed.complete(result.bundle, 'deleteTrigger')
          fired++
        }
      }
      expect(fired).toBe(20_000)
      expect(await storedCounts(bed.store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
    },
    20_000,
  )
})
