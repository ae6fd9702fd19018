import { describe, expect, it } from 'vitest'
import { alertsPlugin, triggerInError } from '../../src/alerts.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import {
  createScheduler,
  defineJob,
  inProcessThreadPool,
  ramJobStore,
  type Scheduler,
  SchedulerError,
  type SchedulerPlugin,
  shutdownHookPlugin,
} from '../../src/index.ts'
import { ManualClock } from '../../src/testing.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'
import { detailOf, firing, jobOf } from '../support/shell-rig.ts'

type Step = 'initialize' | 'start' | 'shutdown'

/** Two plugins that write down what happens to them; the first fails where it is told to. */
function plugins(log: string[], failing: Step | null = null): SchedulerPlugin[] {
  return ['a', 'b'].map((name) => {
    const step = (which: Step) => async (): Promise<void> => {
      await Promise.resolve()
      log.push(`${name} ${which}`)
      if (name === 'a' && which === failing) throw new Error(`${which} failed`)
    }
    return { name, initialize: step('initialize'), start: step('start'), shutdown: step('shutdown') }
  })
}

function options(log: string[] = []) {
  const clock = new ManualClock()
  const store = new FaultyJobStore(ramJobStore())
  return {
    clock,
    jobs: [jobOf(() => log.push('job ran'))],
    jobStore: store,
    threadPool: inProcessThreadPool({ size: 1 }),
  }
}

/** The same with the plugins. */
function withPlugins(log: string[], failing: Step | null = null) {
  return { ...options(log), logger: false as const, plugins: plugins(log, failing) }
}

describe('plugins', () => {
  it.each(['initialize', 'start'] as const)(
    'that take long to %s are waited for and named once',
    async (step) => {
      const warnings: object[] = []
      const logger = { ...silentLogger, warn: (fields: object) => warnings.push(fields) }
      const given = options()
      let finish = (): void => {}
      const slow: SchedulerPlugin = {
        name: 'slow',
        initialize: () => {},
        [step]: () =>
          new Promise<void>((resolve) => {
            finish = resolve
          }),
      }
      const making = createScheduler({ ...given, logger, plugins: [slow] })
      const starting = making.then(async (scheduler) => {
        await scheduler.start()
        return scheduler
      })
      await given.clock.advance(9999)
      expect(warnings).toEqual([])
      await given.clock.advance(60_000)
      expect(warnings).toEqual([{ plugin: 'slow', step }])
      finish()
      await (await starting).shutdown()
    },
  )

  it.each([
    ['schedulerShuttingdown', 'callback'],
    ['schedulerShutdown', 'callback'],
    ['shutdown', 'plugin'],
  ] as const)('and listeners that await the shutdown in %s have 10 seconds', async (where, kind) => {
    const warnings: object[] = []
    const given = options()
    const asking = {
      name: 'asking',
      initialize: (scheduler: Scheduler) => {
        const ask = { [where]: () => scheduler.shutdown() }
        if (kind === 'callback') scheduler.listenerManager.addSchedulerListener(ask)
        else Object.assign(asking, ask)
      },
    }
    const logger: Logger = {
      ...silentLogger,
      warn: (fields) => warnings.push(fields),
      error: (_, message) => warnings.push({ message }),
    }
    const scheduler = await createScheduler({ ...given, logger, plugins: [asking] })
    await scheduler.start()
    const ended = scheduler.events.next('schedulerShutdown')
    const ending = scheduler.shutdown({ waitForJobsToComplete: true })
    await given.clock.advance(9999)
    expect(warnings).toEqual([])
    await given.clock.advance(1)
    await ended
    await ending
    expect(warnings).toEqual([
      kind === 'callback' ? { callback: where } : { message: "Plugin 'asking' did not shut down in time." },
    ])
  })

  it.each([
    [undefined, 1000],
    [{ waitForJobsToComplete: true }, 10_000],
  ])(
    'and listeners that await a shutdown (%j) in a start have it refused after a while',
    async (how, limitMs) => {
      for (const where of ['listener', 'plugin']) {
        const errors: object[] = []
        const warnings: object[] = []
        const given = options()
        const asking: SchedulerPlugin = {
          name: 'asking',
          initialize: (scheduler) => {
            const ask = () => scheduler.shutdown(how)
            if (where === 'plugin') Object.assign(asking, { start: ask })
            else scheduler.listenerManager.addSchedulerListener({ schedulerStarting: ask })
          },
        }
        const logger: Logger = {
          ...silentLogger,
          warn: (fields) => warnings.push(fields),
          error: (fields) => errors.push(fields),
        }
        const scheduler = await createScheduler({ ...given, logger, plugins: [asking] })
        const starting = expect(scheduler.start()).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
        await given.clock.advance(limitMs - 1)
        expect(scheduler.isShutdown).toBe(false)
        await given.clock.advance(1)
        await starting
        expect(scheduler.isShutdown).toBe(true)
        expect(errors).toEqual([])
        const heldUpBy = where === 'plugin' ? "plugin 'asking'" : 'listeners of schedulerStarting'
        expect(warnings).toContainEqual({ heldUpBy })
      }
    },
  )

  it('are started once, also where another one fails the first start, which leaves jobs to be registered', async () => {
    const log: string[] = []
    const given = options(log)
    let isReady = false
    const [first, second] = plugins(log)
    const failing: SchedulerPlugin = {
      name: 'failing',
      initialize: () => {},
      start: () => {
        if (!isReady) throw new Error('not ready')
      },
    }
    const scheduler = await createScheduler({
      ...given,
      logger: false,
      plugins: [first, failing, second].filter((plugin) => plugin !== undefined),
    })
    await expect(scheduler.start()).rejects.toThrow('not ready')
    scheduler.registerJobs([defineJob('late', () => {})])
    isReady = true
    await scheduler.start()
    expect(() => {
      scheduler.registerJobs([defineJob('too late', () => {})])
    }).toThrow(expect.objectContaining({ code: 'ERR_SCHEDULER_STATE' }))
    expect(log).toEqual(['a initialize', 'b initialize', 'a start', 'b start'])
    await scheduler.shutdown()
  })

  it('are initialized when the scheduler is made, started once, and shut down at the end', async () => {
    const log: string[] = []
    const scheduler = await createScheduler(withPlugins(log))
    expect(log).toEqual(['a initialize', 'b initialize'])
    scheduler.events.on('schedulerStarted', () => log.push('started'))
    scheduler.events.on('schedulerShuttingdown', () => log.push('shutting down'))
    scheduler.events.on('schedulerShutdown', () => log.push('shut down'))
    await scheduler.start()
    await scheduler.standby()
    await scheduler.start()
    await scheduler.shutdown()
    await scheduler.shutdown()
    expect(log.slice(2)).toEqual([
      'a start',
      'b start',
      'started',
      'started',
      'shutting down',
      'a shutdown',
      'b shutdown',
      'shut down',
    ])
  })

  it('that need nothing at start or shutdown leave it out', async () => {
    const rest = options()
    const scheduler = await createScheduler({
      logger: false,
      ...rest,
      plugins: [{ name: 'bare', initialize: () => {} }],
    })
    await scheduler.start()
    await scheduler.shutdown()
    expect(rest.clock.timerCount).toBe(0)
  })

  it('that fail to initialize fail createScheduler, which closes what it opened', async () => {
    const log: string[] = []
    const given = withPlugins(log, 'initialize')
    await expect(createScheduler(given)).rejects.toThrow('initialize failed')
    expect(given.jobStore.callsOf('shutdown')).toBe(1)
    expect(log).toEqual(['a initialize', 'a shutdown'])
    expect(given.clock.timerCount).toBe(0)
  })

  it('that refuse a scheduler because another one has them are left to that one', async () => {
    const log: string[] = []
    const [before, taken] = plugins(log) as [SchedulerPlugin, SchedulerPlugin]
    const refusing: SchedulerPlugin = {
      ...taken,
      initialize: () => {
        throw new SchedulerError('ERR_PLUGIN_IN_USE', 'taken')
      },
    }
    const given = { ...options(), logger: false as const, plugins: [before, refusing] }
    await expect(createScheduler(given)).rejects.toThrow('taken')
    expect(log).toEqual(['a initialize', 'a shutdown'])
  })

  it('that fail because another plugin is not ready yet are shut down as others that fail', async () => {
    const log: string[] = []
    const alerts = alertsPlugin({
      rules: [triggerInError()],
      channels: [{ name: 'none', send: async () => {} }],
    })
    const early: SchedulerPlugin = {
      name: 'early',
      async initialize() {
        log.push('early opens')
        await alerts.active()
      },
      shutdown() {
        log.push('early closes')
      },
    }
    const given = { ...options(), logger: false as const, plugins: [early, alerts] }
    await expect(createScheduler(given)).rejects.toMatchObject({ code: 'ERR_SCHEDULER_STATE' })
    expect(log).toEqual(['early opens', 'early closes'])
  })

  it('that fail to start fail start; nothing fires, and the scheduler can be shut down', async () => {
    const log: string[] = []
    const given = withPlugins(log, 'start')
    const scheduler = await createScheduler(given)
    await scheduler.scheduleJob(detailOf('job'), firing(given.clock.now()))
    await expect(scheduler.start()).rejects.toThrow('start failed')
    await given.clock.advance(60_000)
    expect(scheduler.isStarted).toBe(false)
    expect(log).not.toContain('job ran')
    await scheduler.shutdown()
    expect(log.slice(-2)).toEqual(['a shutdown', 'b shutdown'])
    expect(given.clock.timerCount).toBe(0)
  })

  it('that fail to shut down are reported and keep nothing from shutting down', async () => {
    const log: string[] = []
    const errors: SchedulerError[] = []
    const given = withPlugins(log, 'shutdown')
    const scheduler = await createScheduler(given)
    scheduler.events.on('schedulerError', ({ error }) => errors.push(error))
    await scheduler.start()
    await scheduler.shutdown()
    expect(errors.map(({ message }) => message)).toEqual(["Plugin 'a' failed to shut down."])
    expect(log.at(-1)).toBe('b shutdown')
    expect(given.jobStore.callsOf('shutdown')).toBe(1)
    expect(scheduler.isShutdown).toBe(true)
  })
})

describe('the shutdown hook', () => {
  it('listens to its signals while the scheduler lives, and no longer', async () => {
    const counts = (): number[] =>
      (['SIGUSR2', 'SIGINT'] as const).map((signal) => process.listenerCount(signal))
    const before = counts()
    const rest = options()
    const scheduler = await createScheduler({
      logger: false,
      ...rest,
      plugins: [shutdownHookPlugin({ signals: ['SIGUSR2'] })],
    })
    expect(counts()).toEqual([(before[0] ?? 0) + 1, before[1]])
    await scheduler.shutdown()
    expect(counts()).toEqual(before)
  })

  it('shuts the scheduler down, and waits for its jobs, when the signal comes', async () => {
    const rest = options()
    let finish: () => void = () => {}
    const scheduler = await createScheduler({
      logger: false,
      ...rest,
      jobs: [jobOf(() => new Promise<void>((resolve) => (finish = resolve)))],
      plugins: [shutdownHookPlugin({ signals: ['SIGUSR2'], interruptAfterMs: 5000 })],
    })
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('job'), firing(rest.clock.now()))
    await rest.clock.advance(1)
    const ended = scheduler.events.next('schedulerShutdown')
    process.emit('SIGUSR2')
    await rest.clock.advance(100)
    expect(scheduler.isShutdown).toBe(false)
    finish()
    await ended
    expect(scheduler.isShutdown).toBe(true)
    expect(process.listenerCount('SIGUSR2')).toBe(0)
    await rest.clock.settle()
    expect(rest.clock.timerCount).toBe(0)
  })

  it('of many schedulers is no leak of listeners', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => {
      warnings.push(warning)
    }
    process.on('warning', note)
    const limit = process.getMaxListeners()
    const schedulers: Scheduler[] = []
    for (let count = 0; count < 30; count++) {
      const plugins = [shutdownHookPlugin({ signals: ['SIGUSR2'] })]
      schedulers.push(await createScheduler({ logger: false, ...options(), plugins }))
    }
    // Node.js tells of warnings a turn later.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    await Promise.all(schedulers.map((scheduler) => scheduler.shutdown()))
    expect(warnings).toEqual([])
    expect(process.getMaxListeners()).toBe(limit)
    expect(process.listenerCount('SIGUSR2')).toBe(0)
  })

  it('of several schedulers that share it hears of the signal in each that lives', async () => {
    const plugins = [shutdownHookPlugin({ signals: ['SIGUSR2'] })]
    const [one, other] = [
      await createScheduler({ logger: false, ...options(), plugins }),
      await createScheduler({ logger: false, ...options(), plugins }),
    ]
    await one.shutdown()
    const ended = other.events.next('schedulerShutdown')
    process.emit('SIGUSR2')
    await ended
    expect(process.listenerCount('SIGUSR2')).toBe(0)
  })

  it('counts what comes before the shutdown in its limit', async () => {
    const rest = options()
    let isAborted = false
    const job = jobOf(({ signal }) => {
      signal.addEventListener('abort', () => {
        isAborted = true
      })
      return new Promise<never>(() => {})
    })
    const hook = shutdownHookPlugin({
      signals: ['SIGUSR2'],
      interruptAfterMs: 5000,
      beforeShutdown: () => new Promise<void>((resolve) => rest.clock.setTimer(4000, resolve)),
    })
    const scheduler = await createScheduler({ logger: false, ...rest, jobs: [job], plugins: [hook] })
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('job'), firing(rest.clock.now()))
    await rest.clock.advance(1)
    const ended = scheduler.events.next('schedulerShutdown')
    process.emit('SIGUSR2')
    await rest.clock.advance(4999)
    expect(isAborted).toBe(false)
    await rest.clock.advance(1)
    expect(isAborted).toBe(true)
    await rest.clock.advance(60_000)
    await ended
  })

  it('keeps its limit where a shutdown without one is under way', async () => {
    const rest = options()
    const interrupted: number[] = []
    const job = jobOf(({ signal }) => {
      signal.addEventListener('abort', () => interrupted.push(rest.clock.elapsedMs()))
      return new Promise<never>(() => {})
    })
    const hook = shutdownHookPlugin({ signals: ['SIGUSR2'], interruptAfterMs: 5000 })
    const scheduler = await createScheduler({
      logger: false,
      ...rest,
      jobs: [job],
      interruptGraceMs: 2000,
      plugins: [hook],
    })
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('job'), firing(rest.clock.now()))
    await rest.clock.advance(1)
    const ending = scheduler.shutdown({ waitForJobsToComplete: true })
    await rest.clock.advance(60_000)
    const signalledMs = rest.clock.elapsedMs()
    process.emit('SIGUSR2')
    await rest.clock.advance(7999)
    expect(interrupted).toEqual([signalledMs + 5000])
    expect(scheduler.isShutdown).toBe(false)
    await rest.clock.advance(1)
    await ending
    expect(rest.clock.timerCount).toBe(0)
  })

  it('interrupts what takes longer than its limit, which then has the grace of the scheduler', async () => {
    const rest = options()
    let isAborted = false
    const scheduler = await createScheduler({
      logger: false,
      ...rest,
      jobs: [
        jobOf(({ signal }) => {
          signal.addEventListener('abort', () => {
            isAborted = true
          })
          return new Promise<never>(() => {})
        }),
      ],
      interruptGraceMs: 2000,
      plugins: [shutdownHookPlugin({ signals: ['SIGUSR2'], interruptAfterMs: 5000 })],
    })
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('job'), firing(rest.clock.now()))
    await rest.clock.advance(1)
    process.emit('SIGUSR2')
    await rest.clock.advance(4999)
    expect(isAborted).toBe(false)
    await rest.clock.advance(3000)
    expect([isAborted, scheduler.isShutdown]).toEqual([true, false])
    await rest.clock.advance(1)
    expect(scheduler.isShutdown).toBe(true)
    expect(rest.clock.timerCount).toBe(0)
  })

  it('refuses options that make no sense', () => {
    for (const given of [
      { interruptAfterMs: -1 },
      { interruptAfterMs: 1.5 },
      { signal: 'SIGTERM' },
      { signals: ['SIGKILL'] },
      { signals: ['SIGSTOP'] },
    ]) {
      expect(() => shutdownHookPlugin(given as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
      )
    }
  })
})
