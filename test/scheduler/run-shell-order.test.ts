import { describe, expect, it } from 'vitest'
import {
  type JobExecutionContext,
  JobExecutionError,
  JobKey,
  type Scheduler,
  type TriggerListener,
} from '../../src/index.ts'
import { instructionAfter } from '../../src/scheduler/verdict.ts'
import { detailOf, firing, jobOf, shellRig, theJob, theTrigger } from '../support/shell-rig.ts'

/** Writes down every callback of two listeners of each kind. */
function listenIn(
  scheduler: Scheduler,
  heard: string[],
  vetoes: (name: string) => boolean = () => false,
): void {
  for (const name of ['a', 'b']) {
    const says = (what: string): void => {
      heard.push(`${name} ${what}`)
    }
    const triggerListener: TriggerListener = {
      name,
      triggerFired: (_trigger, { refireCount }) => {
        says(`triggerFired ${refireCount}`)
      },
      vetoJobExecution: () => {
        says('veto?')
        return vetoes(name)
      },
      triggerComplete: (_trigger, _context, instruction) => {
        says(`triggerComplete ${instruction}`)
      },
    }
    scheduler.listenerManager.addTriggerListener(triggerListener)
    scheduler.listenerManager.addJobListener({
      name,
      jobToBeExecuted: () => {
        says('jobToBeExecuted')
      },
      jobExecutionVetoed: () => {
        says('jobExecutionVetoed')
      },
      jobWasExecuted: (_context, error) => {
        says(`jobWasExecuted ${error === null ? 'well' : error.message}`)
      },
    })
    scheduler.listenerManager.addSchedulerListener({
      triggerFinalized: () => {
        says('triggerFinalized')
      },
      jobDeleted: () => {
        says('jobDeleted')
      },
    })
  }
}

const both = (...whats: readonly string[]): string[] => whats.flatMap((what) => [`a ${what}`, `b ${what}`])
const fired = (refireCount: number): string[] =>
  ['a', 'b'].flatMap((name) => [`${name} triggerFired ${refireCount}`, `${name} veto?`])

async function heardOf(
  run: (context: JobExecutionContext) => unknown,
  options: { count?: number; vetoes?: (name: string) => boolean; maxRefires?: number } = {},
): Promise<string[]> {
  const heard: string[] = []
  const job = jobOf((context) => {
    heard.push('execute')
    return run(context)
  })
  const { clock, scheduler, startMs } = await shellRig([job], { maxRefires: options.maxRefires ?? 100 })
  listenIn(scheduler, heard, options.vetoes)
  await scheduler.scheduleJob(detailOf(job), firing(startMs, options.count))
  await clock.advance(100)
  await scheduler.shutdown()
  return heard
}

describe('listeners are told in order', () => {
  it('of a trigger that fires once', async () => {
    expect(await heardOf(() => {})).toEqual([
      ...fired(0),
      ...both('jobToBeExecuted'),
      'execute',
      ...both('jobWasExecuted well', 'triggerComplete deleteTrigger', 'triggerFinalized', 'jobDeleted'),
    ])
  })

  it('of a trigger that goes on', async () => {
    expect(await heardOf(() => {}, { count: 2 })).toEqual([
      ...fired(0),
      ...both('jobToBeExecuted'),
      'execute',
      ...both('jobWasExecuted well', 'triggerComplete noop'),
    ])
  })

  it('of a veto, which one listener casts and which keeps no other from being asked', async () => {
    for (const veto of ['a', 'b']) {
      expect(await heardOf(() => {}, { vetoes: (name) => name === veto })).toEqual([
        ...fired(0),
        ...both('jobExecutionVetoed', 'triggerFinalized', 'jobDeleted'),
      ])
    }
  })

  it('of immediate refires: the whole round again, and the end once', async () => {
    const heard = await heardOf(({ refireCount }) => {
      if (refireCount < 2) throw new JobExecutionError('again', { refireImmediately: true })
    })
    const round = (refireCount: number): string[] => [
      ...fired(refireCount),
      ...both('jobToBeExecuted'),
      'execute',
      ...both('jobWasExecuted again', 'triggerComplete reExecuteJob'),
    ]
    expect(heard).toEqual([
      ...round(0),
      ...round(1),
      ...fired(2),
      ...both('jobToBeExecuted'),
      'execute',
      ...both('jobWasExecuted well', 'triggerComplete deleteTrigger', 'triggerFinalized', 'jobDeleted'),
    ])
  })

  it('of a veto in the second round of a refire', async () => {
    let asked = 0
    const heard = await heardOf(
      () => {
        throw new JobExecutionError('again', { refireImmediately: true })
      },
      { vetoes: () => ++asked > 2 },
    )
    expect(heard.filter((line) => line === 'execute')).toHaveLength(1)
    expect(heard.slice(-6)).toEqual(both('jobExecutionVetoed', 'triggerFinalized', 'jobDeleted'))
  })

  it('and observers of events are told of the same things', async () => {
    const job = jobOf(() => {})
    const { clock, scheduler, startMs } = await shellRig([job])
    const seen: string[] = []
    for (const name of [
      'jobAdded',
      'jobScheduled',
      'triggerFired',
      'jobToBeExecuted',
      'jobWasExecuted',
      'triggerComplete',
      'triggerFinalized',
      'jobDeleted',
      'jobExecutionVetoed',
      'schedulerError',
    ] as const) {
      scheduler.events.on(name, () => seen.push(name))
    }
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(100)
    expect(seen).toEqual([
      'jobAdded',
      'jobScheduled',
      'triggerFired',
      'jobToBeExecuted',
      'jobWasExecuted',
      'triggerComplete',
      'triggerFinalized',
      'jobDeleted',
    ])
    await scheduler.shutdown()
  })
})

describe('what follows an execution', () => {
  const once = firing(1000).computeFirstFireTime(null)
  const finished = once.triggered(null)
  const ongoing = firing(1000, 5).computeFirstFireTime(null).triggered(null)
  const flags = [false, true]
  const cases = flags.flatMap((refireImmediately) =>
    flags.flatMap((unscheduleFiringTrigger) =>
      flags.map((unscheduleAllTriggers) => ({
        refireImmediately,
        unscheduleFiringTrigger,
        unscheduleAllTriggers,
      })),
    ),
  )

  it.each(cases)('is the first rule that applies to %o', (steering) => {
    const error = new JobExecutionError('failed', steering)
    const steered = steering.refireImmediately
      ? 'reExecuteJob'
      : steering.unscheduleFiringTrigger
        ? 'setTriggerComplete'
        : steering.unscheduleAllTriggers
          ? 'setAllJobTriggersComplete'
          : null
    expect(instructionAfter(ongoing, error)).toBe(steered ?? 'noop')
    expect(instructionAfter(finished, error)).toBe(steered ?? 'deleteTrigger')
  })

  it('is the end of the trigger when nothing was thrown and it will not fire again', () => {
    expect(instructionAfter(finished, null)).toBe('deleteTrigger')
    expect(instructionAfter(ongoing, null)).toBe('noop')
  })
})

describe('refires are bounded', () => {
  it.each([0, 3])(
    'by maxRefires %i: then the failure is reported and the schedule goes on',
    async (maxRefires) => {
      const runs: number[] = []
      const job = jobOf(({ refireCount }) => {
        runs.push(refireCount)
        throw new JobExecutionError('again', { refireImmediately: true })
      })
      const { clock, scheduler, errors, startMs } = await shellRig([job], { maxRefires })
      await scheduler.scheduleJob(detailOf(job), firing(startMs, 2))
      await clock.advance(10)
      const pass = Array.from({ length: maxRefires + 1 }, (_, index) => index)
      expect(runs).toEqual(pass)
      expect(errors.map(({ code, message }) => `${code} ${message}`)).toEqual([
        'ERR_SCHEDULER_FAILURE Job DEFAULT.job asked to be refired more than ' +
          `maxRefires (${maxRefires}) times; its schedule goes on.`,
      ])
      expect(await scheduler.getTriggerState(theTrigger)).toBe('NORMAL')
      await clock.advance(1000)
      expect(runs).toEqual([...pass, ...pass])
      expect(await scheduler.checkExists(theJob)).toBe(false)
      await scheduler.shutdown()
    },
  )

  it('and a trigger without a next fire time is reported as deleted in the last round', async () => {
    const heard = await heardOf(
      () => {
        throw new JobExecutionError('again', { refireImmediately: true })
      },
      { maxRefires: 1 },
    )
    expect(heard.filter((line) => line.startsWith('a triggerComplete'))).toEqual([
      'a triggerComplete reExecuteJob',
      'a triggerComplete deleteTrigger',
    ])
    expect(heard.slice(-4)).toEqual(both('triggerFinalized', 'jobDeleted'))
  })

  it('and a refire runs the same instance of a class job with the same notes', async () => {
    const seen: unknown[] = []
    class Counting {
      runs = 0
      execute(context: JobExecutionContext): void {
        this.runs++
        seen.push([this.runs, context.get('note'), context.jobInstance === this])
        context.put('note', `of run ${this.runs}`)
        if (context.refireCount === 0) throw new JobExecutionError('again', { refireImmediately: true })
      }
    }
    const { clock, scheduler, startMs } = await shellRig([Counting])
    await scheduler.scheduleJob(detailOf(Counting), firing(startMs))
    await clock.advance(10)
    expect(seen).toEqual([
      [1, undefined, true],
      [2, 'of run 1', true],
    ])
    expect(await scheduler.checkExists(new JobKey('job'))).toBe(false)
    await scheduler.shutdown()
  })
})
