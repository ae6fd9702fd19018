import { setImmediate as nextTurn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { JobExecutionError, SchedulerError } from '../../src/index.ts'
import { toJobExecutionError } from '../../src/scheduler/job-failure.ts'
import { detailOf, firing, jobOf, type ShellRig, shellRig, theJob, theTrigger } from '../support/shell-rig.ts'

interface Thrown {
  readonly what: string
  readonly make: () => unknown
  /** The end of the message. */
  readonly text: string
}

function withGetter(property: string): Error {
  return Object.defineProperty(new Error('hidden'), property, {
    get: () => {
      throw new TypeError('unreadable')
    },
  })
}

function throwingProxy(target: object): unknown {
  const trap = (): never => {
    throw new TypeError('trapped')
  }
  return new Proxy(target, {
    get: trap,
    has: trap,
    getPrototypeOf: trap,
    getOwnPropertyDescriptor: trap,
    ownKeys: trap,
  })
}

const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic

const unreadable = 'something that cannot be read (reading it throws)'

const zoo: readonly Thrown[] = [
  { what: 'undefined', make: () => undefined, text: 'undefined' },
  { what: 'null', make: () => null, text: 'null' },
  { what: 'an empty string', make: () => '', text: '' },
  { what: 'a string', make: () => 'text', text: 'text' },
  { what: 'a number', make: () => 42, text: '42' },
  { what: 'a bigint', make: () => 42n, text: '42' },
  { what: 'false', make: () => false, text: 'false' },
  { what: 'a symbol', make: () => Symbol('sign'), text: 'Symbol(sign)' },
  { what: 'a function', make: () => Math.max, text: String(Math.max) },
  { what: 'a plain object', make: () => ({ a: 1 }), text: '{"a":1}' },
  { what: 'a cyclic object', make: () => cyclic, text: '{"self":"circular"}' },
  {
    what: 'an object without prototype',
    make: () => Object.create(null) as unknown,
    text: '[object Object]',
  },
  { what: 'a thenable', make: () => ({ then: () => {} }), text: '[object Object]' },
  { what: 'a promise that rejects later', make: rejectsLater, text: '[object Promise]' },
  { what: 'an error', make: () => new RangeError('plain'), text: 'plain' },
  { what: 'a frozen error', make: () => Object.freeze(new Error('frozen')), text: 'frozen' },
  {
    what: 'an error of another realm',
    make: () => runInNewContext("new Error('far')") as unknown,
    text: 'far',
  },
  { what: 'an error whose message throws', make: () => withGetter('message'), text: unreadable },
  { what: 'an error whose stack throws', make: () => withGetter('stack'), text: 'hidden' },
  { what: 'an error whose name throws', make: () => withGetter('name'), text: 'hidden' },
  { what: 'an error whose code throws', make: () => withGetter('code'), text: 'hidden' },
  {
    what: 'an error whose message is a symbol',
    make: () => Object.assign(new Error(), { message: Symbol('sign') }),
    text: '[object Error]',
  },
  { what: 'a proxy whose traps throw', make: () => throwingProxy({}), text: unreadable },
  {
    what: 'one of our errors behind a proxy whose traps throw',
    make: () => throwingProxy(new JobExecutionError('wrapped', { refireImmediately: true })),
    text: unreadable,
  },
  { what: 'a revoked proxy', make: revokedProxy, text: unreadable },
]

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function rejectsLater(): Promise<never> {
  return nextTurn().then(() => {
    throw new Error('nobody saw this')
  })
}

/** Several ways for a job to throw. */
const ways: readonly { readonly way: string; readonly execute: (make: () => unknown) => unknown }[] = [
  {
    way: 'at once',
    execute: (make) => {
      throw make()
    },
  },
  {
    way: 'from an async function',
    execute: async (make) => {
      await nextTurn()
      throw make()
    },
  },
  {
    way: 'through a thenable',
    execute: (make) => ({
      then: (_resolve: unknown, reject: (reason: unknown) => void) => {
        reject(make())
      },
    }),
  },
]

/** Runs a job that fails three times in a single slot; were the slot lost, there would be one run. */
async function runFailing(rig: ShellRig): Promise<void> {
  await rig.scheduler.scheduleJob(detailOf('job'), firing(rig.startMs, 3))
  await rig.clock.advance(10_000)
}

describe('whatever a job throws, it is a failure of that execution alone', () => {
  const cases = zoo.flatMap((thrown) => ways.map((way) => ({ ...thrown, ...way })))

  it.each(cases)('$what, $way', async ({ make, execute, text }) => {
    const thrown: unknown[] = []
    const makeOne = (): unknown => {
      const one = make()
      thrown.push(one)
      return one
    }
    const failures: (JobExecutionError | null)[] = []
    const rig = await shellRig([jobOf(() => execute(makeOne), { disallowConcurrentExecution: true })])
    const { scheduler, errors, clock } = rig
    scheduler.listenerManager.addJobListener({
      name: 'failures',
      jobWasExecuted: (_context, error) => {
        failures.push(error)
      },
    })
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => {
      unhandled.push(reason)
    }
    process.on('unhandledRejection', note)
    await runFailing(rig)
    process.off('unhandledRejection', note)
    expect(failures).toHaveLength(3)
    for (const [index, failure] of failures.entries()) {
      expect(failure).toBeInstanceOf(JobExecutionError)
      expect(failure).toMatchObject({
        code: 'ERR_JOB_EXECUTION',
        refireImmediately: false,
        message: `Job DEFAULT.job threw: ${text}`,
      })
      expect(Object.is(failure?.cause, thrown[index])).toBe(true)
    }
    expect(unhandled).toEqual([])
    expect(errors).toEqual([])
    expect(await scheduler.checkExists(theJob)).toBe(false)
    expect(scheduler.getCurrentlyExecutingJobs()).toEqual([])
    await scheduler.shutdown({ waitForJobsToComplete: true })
    expect(clock.timerCount).toBe(0)
  })

  it.each(zoo)('$what, after the execution was interrupted', async ({ make }) => {
    let failure: JobExecutionError | null = null
    const rig = await shellRig([
      jobOf(({ signal }) => {
        const aborted = new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            resolve()
          })
        })
        return aborted.then(() => {
          throw make()
        })
      }),
    ])
    const { scheduler, clock, startMs } = rig
    scheduler.events.on('jobWasExecuted', ({ error }) => {
      failure = error
    })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    expect(await scheduler.interrupt(theJob)).toBe(true)
    await clock.settle()
    expect(failure).toMatchObject({ code: 'ERR_JOB_INTERRUPTED' })
    expect(await scheduler.checkExists(theJob)).toBe(false)
    await scheduler.shutdown({ waitForJobsToComplete: true })
  })

  it.each(zoo)(
    '$what, by the constructor of a class job: the trigger is in ERROR until it is reset',
    async ({ make }) => {
      let thrown: unknown
      let isBroken = true
      let runs = 0
      class Fragile {
        static readonly jobType = 'job'
        constructor() {
          if (!isBroken) return
          thrown = make()
          throw thrown
        }
        execute(): void {
          runs++
        }
      }
      const rig = await shellRig([Fragile])
      const { scheduler, clock, errors, startMs } = rig
      const inError: string[] = []
      scheduler.events.on('triggerInError', ({ triggerKey }) => inError.push(triggerKey.toString()))
      await scheduler.scheduleJob(detailOf('job'), firing(startMs, 100))
      await clock.advance(2000)
      expect(await scheduler.getTriggerState(theTrigger)).toBe('ERROR')
      expect(inError).toEqual(['DEFAULT.trigger'])
      expect(errors).toHaveLength(1)
      expect(errors[0]?.message).toBe('Job DEFAULT.job could not be instantiated.')
      expect(Object.is(errors[0]?.cause, thrown)).toBe(true)
      isBroken = false
      expect(await scheduler.resetTriggerFromErrorState(theTrigger)).toBe(true)
      await clock.advance(5000)
      expect(runs).toBeGreaterThan(4)
      expect(await scheduler.getTriggerState(theTrigger)).toBe('NORMAL')
      await scheduler.shutdown()
    },
  )
})

describe('what a job throws', () => {
  it('keeps the code of one of our errors', () => {
    const cause = new SchedulerError('ERR_JOB_NOT_FOUND', 'no such job')
    expect(toJobExecutionError(theJob, cause)).toMatchObject({ code: 'ERR_JOB_NOT_FOUND', cause })
  })

  it('steers as it is, also when another copy of the package made it', () => {
    const own = new JobExecutionError('mine', { unscheduleAllTriggers: true })
    expect(toJobExecutionError(theJob, own)).toBe(own)
    const brand = '~quartz-ts/error'
    const foreign = Object.assign(new Error('theirs'), {
      [brand]: true,
      code: 'ERR_JOB_EXECUTION',
      refireImmediately: false,
      unscheduleFiringTrigger: true,
      unscheduleAllTriggers: false,
    })
    expect(toJobExecutionError(theJob, foreign)).toBe(foreign)
  })

  it('is a plain failure when it only looks like one that steers', () => {
    const lookalike = Object.assign(new Error('sham'), { refireImmediately: true })
    expect(toJobExecutionError(theJob, lookalike)).toMatchObject({
      refireImmediately: false,
      cause: lookalike,
    })
  })

  it('can be a getter of the answer: a `then` that throws when it is read', async () => {
    let failure: JobExecutionError | null = null
    const rig = await shellRig([jobOf(() => Object.defineProperty({}, 'then', { get: () => raise() }))])
    rig.scheduler.events.on('jobWasExecuted', ({ error }) => {
      failure = error
    })
    await rig.scheduler.scheduleJob(detailOf('job'), firing(rig.startMs))
    await rig.clock.advance(10)
    expect(failure).toMatchObject({ message: 'Job DEFAULT.job threw: raised' })
    await rig.scheduler.shutdown()
  })

  it('takes no slot away from later executions', async () => {
    let runs = 0
    const rig = await shellRig([
      jobOf(() => {
        runs++
        throw new Error(`run ${runs}`)
      }),
    ])
    await rig.scheduler.scheduleJob(detailOf('job'), firing(rig.startMs, 50))
    await rig.clock.advance(60_000)
    expect(runs).toBe(50)
    expect(rig.scheduler.getMetaData().numberOfJobsExecuted).toBe(50)
    await rig.scheduler.shutdown()
  })
})

function raise(): never {
  throw new Error('raised')
}
