import { describe, expect, it } from 'vitest'
import {
  GroupMatcher,
  type JobListener,
  type Scheduler,
  type SchedulerListener,
  type TriggerListener,
  triggerKey,
} from '../../src/index.ts'
import { detailOf, firing, jobOf, type ShellRig, shellRig, theJob, theTrigger } from '../support/shell-rig.ts'

interface Failure {
  readonly how: string
  readonly fail: () => never | Promise<never>
  readonly cause: unknown
}

const boom = new Error('boom')
const unreadable: unknown = new Proxy(
  {},
  {
    get: () => {
      throw boom
    },
    has: () => {
      throw boom
    },
    getPrototypeOf: () => {
      throw boom
    },
  },
)

/** Throws what is not an Error too, which is the point. */
function raise(thrown: unknown): never {
  throw thrown
}

const failures: readonly Failure[] = [
  { how: 'throws', fail: () => raise(boom), cause: boom },
  { how: 'rejects', fail: () => Promise.reject(boom), cause: boom },
  { how: 'throws undefined', fail: () => raise(undefined), cause: undefined },
  { how: 'throws what cannot be read', fail: () => raise(unreadable), cause: unreadable },
]

const jobCallbacks = ['jobToBeExecuted', 'jobWasExecuted'] as const
const triggerCallbacks = ['triggerFired', 'vetoJobExecution', 'triggerComplete'] as const

const cases = [...jobCallbacks, ...triggerCallbacks].flatMap((callback) =>
  failures.map((failure) => ({ callback, ...failure })),
)

/** A listener of that kind whose one callback does what `act` says. */
function addListener(
  { listenerManager }: Scheduler,
  name: string,
  callback: string,
  act: () => unknown,
): void {
  const listener = { name, [callback]: act } as JobListener & TriggerListener
  const isJobCallback = callback.startsWith('job')
  if (isJobCallback) listenerManager.addJobListener(listener)
  else listenerManager.addTriggerListener(listener)
}

function expectReported({ errors }: ShellRig, callback: string, { cause }: Failure, times: number): void {
  expect(errors.map(({ code, message }) => ({ code, message }))).toEqual(
    Array.from({ length: times }, () => ({
      code: 'ERR_LISTENER_FAILED',
      message: `Listener 'bad' threw in ${callback}.`,
    })),
  )
  for (const error of errors) expect(Object.is(error.cause, cause)).toBe(true)
}

describe('a listener that fails is reported and changes nothing', () => {
  it.each(cases)(
    'when $callback $how: a non-concurrent job fires again and the others are told',
    async (failure) => {
      let runs = 0
      let told = 0
      const job = jobOf(
        () => {
          runs++
        },
        { disallowConcurrentExecution: true },
      )
      const rig = await shellRig([job])
      const { clock, scheduler, startMs } = rig
      addListener(scheduler, 'bad', failure.callback, failure.fail)
      addListener(scheduler, 'good', failure.callback, () => {
        told++
      })
      await scheduler.scheduleJob(detailOf(job), firing(startMs, 3))
      await clock.advance(1500)
      expect(await scheduler.getTriggerState(theTrigger)).toBe('NORMAL')
      await clock.advance(5000)
      expect(runs).toBe(3)
      expect(told).toBe(3)
      expectReported(rig, failure.callback, failure, 3)
      expect(await scheduler.checkExists(theJob)).toBe(false)
      expect(scheduler.getCurrentlyExecutingJobs()).toEqual([])
      await scheduler.shutdown()
      expect(clock.timerCount).toBe(0)
    },
  )

  it.each(cases)('when $callback $how: a one-shot job runs and is gone', async (failure) => {
    let runs = 0
    const job = jobOf(() => {
      runs++
    })
    const rig = await shellRig([job])
    const { clock, scheduler, startMs } = rig
    addListener(scheduler, 'bad', failure.callback, failure.fail)
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(10)
    expect(runs).toBe(1)
    expectReported(rig, failure.callback, failure, 1)
    expect(await scheduler.checkExists(theJob)).toBe(false)
    expect(await scheduler.checkExists(theTrigger)).toBe(false)
    await scheduler.shutdown()
  })

  it.each(failures)('when triggerFired and the veto both $how: both are reported', async (failure) => {
    const job = jobOf(() => {})
    const { clock, scheduler, errors, startMs } = await shellRig([job])
    scheduler.listenerManager.addTriggerListener({
      name: 'bad',
      triggerFired: failure.fail,
      vetoJobExecution: failure.fail,
    })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(10)
    expect(errors.map(({ message }) => message)).toEqual([
      "Listener 'bad' threw in triggerFired.",
      "Listener 'bad' threw in vetoJobExecution.",
    ])
    await scheduler.shutdown()
  })

  it.each(failures)(
    'when jobExecutionVetoed $how: the veto stands and the trigger goes on',
    async (failure) => {
      let runs = 0
      let told = 0
      const job = jobOf(
        () => {
          runs++
        },
        { disallowConcurrentExecution: true },
      )
      const rig = await shellRig([job])
      const { clock, scheduler, startMs } = rig
      scheduler.listenerManager.addTriggerListener({ name: 'veto', vetoJobExecution: () => true })
      addListener(scheduler, 'bad', 'jobExecutionVetoed', failure.fail)
      addListener(scheduler, 'good', 'jobExecutionVetoed', () => {
        told++
      })
      await scheduler.scheduleJob(detailOf(job), firing(startMs, 2))
      await clock.advance(5000)
      expect(runs).toBe(0)
      expect(told).toBe(2)
      expectReported(rig, 'jobExecutionVetoed', failure, 2)
      expect(await scheduler.checkExists(theJob)).toBe(false)
      await scheduler.shutdown()
    },
  )

  it.each(failures)('when a listener before the vetoing one $how: the veto counts', async (failure) => {
    let runs = 0
    const job = jobOf(() => {
      runs++
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    scheduler.listenerManager.addTriggerListener({
      name: 'bad',
      triggerFired: failure.fail,
      vetoJobExecution: failure.fail,
    })
    scheduler.listenerManager.addTriggerListener({ name: 'veto', vetoJobExecution: async () => true })
    scheduler.listenerManager.addTriggerListener({ name: 'later', vetoJobExecution: failure.fail })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(10)
    expect(runs).toBe(0)
    expect(await scheduler.checkExists(theJob)).toBe(false)
    await scheduler.shutdown()
  })

  it.each(failures)('when triggerFired of a listener $how: its own veto still counts', async (failure) => {
    let runs = 0
    const job = jobOf(() => {
      runs++
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    scheduler.listenerManager.addTriggerListener({
      name: 'bad',
      triggerFired: failure.fail,
      vetoJobExecution: () => true,
    })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(10)
    expect(runs).toBe(0)
    await scheduler.shutdown()
  })

  it.each(failures)('when triggerMisfired $how: the misfire policy is applied', async (failure) => {
    let runs = 0
    let told = 0
    const job = jobOf(() => {
      runs++
    })
    const rig = await shellRig([job])
    const { clock, scheduler, startMs } = rig
    addListener(scheduler, 'bad', 'triggerMisfired', failure.fail)
    addListener(scheduler, 'good', 'triggerMisfired', () => {
      told++
    })
    await scheduler.standby()
    await scheduler.scheduleJob(detailOf(job), firing(startMs + 1000))
    await clock.advance(300_000)
    await scheduler.start()
    await clock.advance(10)
    expect(runs).toBe(1)
    expect(told).toBe(1)
    expectReported(rig, 'triggerMisfired', failure, 1)
    await scheduler.shutdown()
  })

  it.each(failures)('when the matcher of a listener $how: the listener is left out', async (failure) => {
    let runs = 0
    const heard: string[] = []
    const job = jobOf(() => {
      runs++
    })
    const { clock, scheduler, errors, startMs } = await shellRig([job])
    const matcher = {
      isMatch: (): boolean => {
        if (failure.how === 'rejects') throw boom
        return failure.fail() as never
      },
    }
    const listener = (name: string): JobListener & TriggerListener => ({
      name,
      jobToBeExecuted: () => {
        heard.push(name)
      },
      triggerFired: () => {
        heard.push(name)
      },
    })
    scheduler.listenerManager.addJobListener(listener('bad'), matcher)
    scheduler.listenerManager.addTriggerListener(listener('bad'), matcher)
    scheduler.listenerManager.addJobListener(listener('good'))
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(10)
    expect(runs).toBe(1)
    expect(heard).toEqual(['good'])
    expect(errors.map(({ code }) => code)).toEqual(errors.map(() => 'ERR_LISTENER_FAILED'))
    expect(errors[0]?.message).toBe("Listener 'bad' threw in its matcher.")
    expect(await scheduler.checkExists(theJob)).toBe(false)
    await scheduler.shutdown()
  })
})

/** Does something for which each callback of a scheduler listener is told at least once. */
async function liveThroughEverything({ clock, scheduler, startMs }: ShellRig): Promise<void> {
  const job = detailOf('job', (builder) => builder.storeDurably())
  const later = firing(startMs + 1_000_000, 5)
  const { group } = theJob
  await scheduler.scheduleJob(job, later)
  await scheduler.pauseTrigger(theTrigger)
  await scheduler.resumeTrigger(theTrigger)
  await scheduler.pauseTriggers(GroupMatcher.groupEquals(group))
  await scheduler.resumeTriggers(GroupMatcher.groupEquals(group))
  await scheduler.pauseJob(theJob)
  await scheduler.resumeJob(theJob)
  await scheduler.pauseJobs(GroupMatcher.groupEquals(group))
  await scheduler.resumeJobs(GroupMatcher.groupEquals(group))
  await scheduler.pauseAll()
  await scheduler.resumeAll()
  await scheduler.unscheduleJob(theTrigger)
  await scheduler.triggerJob(theJob)
  await clock.advance(10)
  await scheduler.deleteJob(theJob)
  await scheduler.clear()
  await scheduler.standby()
  await scheduler.start()
  await scheduler.shutdown()
}

const schedulerCallbacks = [
  'jobScheduled',
  'jobUnscheduled',
  'triggerFinalized',
  'triggerPaused',
  'triggersPaused',
  'triggerResumed',
  'triggersResumed',
  'jobAdded',
  'jobDeleted',
  'jobPaused',
  'jobsPaused',
  'jobResumed',
  'jobsResumed',
  'schedulerInStandbyMode',
  'schedulerStarting',
  'schedulerStarted',
  'schedulerShuttingdown',
  'schedulerShutdown',
  'schedulingDataCleared',
] as const satisfies readonly (keyof SchedulerListener)[]

describe('a scheduler listener that fails is reported and changes nothing', () => {
  it.each(schedulerCallbacks.flatMap((callback) => failures.map((failure) => ({ callback, ...failure }))))(
    'when $callback $how',
    async (failure) => {
      const { callback } = failure
      let runs = 0
      let told = 0
      const rig = await shellRig([
        jobOf(() => {
          runs++
        }),
      ])
      const { clock, scheduler, errors } = rig
      scheduler.listenerManager.addSchedulerListener({ [callback]: failure.fail })
      scheduler.listenerManager.addSchedulerListener({
        [callback]: () => {
          told++
        },
      })
      await liveThroughEverything(rig)
      expect(runs).toBe(1)
      expect(told).toBeGreaterThan(0)
      expect(errors.map(({ code, message }) => `${code}: ${message}`)).toEqual(
        Array.from({ length: told }, () => `ERR_LISTENER_FAILED: Listener threw in ${callback}.`),
      )
      expect(scheduler.isShutdown).toBe(true)
      expect(clock.timerCount).toBe(0)
    },
  )

  it.each(failures)(
    'when schedulerError itself $how: it is logged and the others are told',
    async (failure) => {
      const logged: unknown[] = []
      const told: string[] = []
      const silent = (): void => {}
      const rig = await shellRig([jobOf(() => {})], {
        logger: {
          debug: silent,
          info: silent,
          warn: silent,
          error: (fields, message) => {
            logged.push(message)
            expect('err' in fields).toBe(true)
          },
        },
      })
      const { clock, scheduler, startMs } = rig
      scheduler.listenerManager.addSchedulerListener({ schedulerError: failure.fail })
      scheduler.listenerManager.addSchedulerListener({
        schedulerError: (message) => {
          told.push(message)
        },
      })
      addListener(scheduler, 'bad', 'jobToBeExecuted', failure.fail)
      await scheduler.scheduleJob(detailOf('job'), firing(startMs))
      await clock.advance(10)
      expect(told).toEqual(["Listener 'bad' threw in jobToBeExecuted."])
      expect(logged).toEqual([
        "Listener 'bad' threw in jobToBeExecuted.",
        'Listener threw in schedulerError.',
      ])
      expect(await scheduler.checkExists(theJob)).toBe(false)
      await scheduler.shutdown()
    },
  )

  it('when triggerFinalized of a misfired trigger fails: the store has let it go', async () => {
    const rig = await shellRig([jobOf(() => {})])
    const { clock, scheduler, startMs } = rig
    scheduler.listenerManager.addSchedulerListener({ triggerFinalized: () => raise(boom) })
    await scheduler.standby()
    const ended = firing(startMs + 1000, 3)
      .getTriggerBuilder()
      .withIdentity(triggerKey('ended'))
      .endAt(new Date(startMs + 5000))
    await scheduler.scheduleJob(detailOf('job'), ended.build())
    await clock.advance(300_000)
    await scheduler.start()
    await clock.advance(10)
    expect(rig.errors.map(({ message }) => message)).toEqual(['Listener threw in triggerFinalized.'])
    expect(await scheduler.getTriggerState(triggerKey('ended'))).toBe('COMPLETE')
    await scheduler.shutdown()
  })
})

describe('a logger that fails changes nothing', () => {
  it('when it cannot read what a listener threw', async () => {
    const texts: unknown[] = []
    const silent = (): void => {}
    const job = jobOf(() => {}, { disallowConcurrentExecution: true })
    const rig = await shellRig([job], {
      logger: {
        debug: silent,
        info: silent,
        warn: silent,
        error: (fields) => {
          const err: unknown = Reflect.get(fields, 'err')
          const read = (value: unknown): unknown => Reflect.get(value as object, 'message')
          // As loggers do that print causes: reading this one throws.
          texts.push(typeof err === 'string' ? err : read(Reflect.get(err as object, 'cause') ?? err))
        },
      },
    })
    const { clock, scheduler, startMs } = rig
    addListener(scheduler, 'bad', 'jobToBeExecuted', () => raise(unreadable))
    scheduler.events.on('jobToBeExecuted', () => raise(unreadable))
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 2))
    await clock.advance(5000)
    expect(texts).toEqual(
      Array.from({ length: 2 }, () => [
        'something that cannot be read (reading it throws)',
        "Listener 'bad' threw in jobToBeExecuted.",
      ]).flat(),
    )
    expect(rig.errors).toHaveLength(2)
    expect(await scheduler.checkExists(theJob)).toBe(false)
    await scheduler.shutdown()
  })

  it('when it always throws', async () => {
    const broken = (): never => raise(boom)
    const rig = await shellRig([jobOf(() => {})], {
      logger: { debug: broken, info: broken, warn: broken, error: broken },
    })
    const { clock, scheduler, startMs } = rig
    addListener(scheduler, 'bad', 'jobWasExecuted', () => raise(boom))
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    expect(rig.errors).toHaveLength(1)
    expect(await scheduler.checkExists(theJob)).toBe(false)
    await scheduler.shutdown()
  })
})
