import {
  ConcurrentTaskScheduler,
  CronTaskTrigger,
  enableScheduling,
  PeriodicTaskTrigger,
  Scheduled,
  ScheduledTaskRegistrar,
  scheduled,
  ThreadPoolTaskScheduler,
} from '../../src/annotations.ts'
import { ScheduledExecutor } from '../../src/executors.ts'
import {
  aClock,
  aLogger,
  boolean,
  but,
  callback,
  type Kind,
  listOf,
  name,
  named,
  number,
  object,
  oneOf,
  options,
  orNull,
  plus,
  text,
  zone,
} from './kinds.ts'
import type { Surface } from './surface.ts'

const optionCode = 'ERR_INVALID_OPTION'
const task = callback
const duration = {
  ...named(oneOf('5s'), { code: optionCode }),
  wrong: [{ value: null }, { value: 'soon' }, { value: {} }],
}
const behaviour = { errorHandler: callback, logger: aLogger, clock: aClock }
const scheduledOptions: Kind = {
  ...named(object, { field: 'options', code: optionCode }),
  good: { fixedRate: 1000 },
  wrong: [
    { value: undefined, field: 'options' },
    { value: null, field: 'options' },
    { value: {}, field: 'cron' },
    { value: { cron: 42 }, field: 'cron' },
    { value: { fixedRat: 5 }, field: 'fixedRat' },
  ],
}
const executor = new ScheduledExecutor()
const startTime: Kind = {
  good: new Date(0),
  code: 'ERR_INVALID_ARGUMENT',
  wrong: [{ value: undefined }, { value: null }, { value: 'tomorrow' }, { value: {} }],
}
const initialDelay = options({ initialDelay: duration })

export const annotationSurfaces: readonly Surface[] = [
  {
    name: 'functions',
    subject: { enableScheduling, Scheduled, scheduled },
    calls: {
      enableScheduling: {
        options: {
          ...options({
            instances: { ...listOf(text), wrong: [{ value: {} }, { value: 'x' }, { value: null }] },
            resolve: callback,
            ...behaviour,
            configurers: listOf({ ...oneOf('x'), good: { configureTasks: () => {} } }),
            scheduler: oneOf('x'),
            cluster: oneOf('x'),
            application: name,
            removeUnknown: boolean,
          }),
          good: { instances: [] },
        },
      },
      Scheduled: { options: scheduledOptions },
      scheduled: { options: scheduledOptions, method: callback },
    },
  },
  {
    name: 'CronTaskTrigger',
    subject: CronTaskTrigger,
    calls: {
      new: {
        expression: { ...text, good: '0 0 7 * * *' },
        options: options({ zone: named(zone, { field: 'timeZone' }), dst: oneOf('vixie') }),
      },
    },
  },
  {
    name: 'PeriodicTaskTrigger',
    subject: PeriodicTaskTrigger,
    calls: {
      new: { period: duration, options: options({ initialDelay: but(duration, null), fixedRate: boolean }) },
    },
  },
  {
    name: 'ConcurrentTaskScheduler',
    subject: ConcurrentTaskScheduler,
    calls: { new: { executor: { ...oneOf('x'), good: executor }, options: options(behaviour) } },
  },
  {
    name: 'ConcurrentTaskScheduler.prototype',
    subject: new ConcurrentTaskScheduler(executor),
    calls: {
      schedule: { task, startTime },
      scheduleAtFixedRate: { task, startTime, period: duration },
      scheduleWithFixedDelay: { task, startTime, delay: duration },
      cancelTriggered: {},
    },
  },
  {
    name: 'ThreadPoolTaskScheduler',
    subject: ThreadPoolTaskScheduler,
    calls: {
      new: {
        options: options({
          ...behaviour,
          poolSize: plus(number, { value: 0 }),
          waitForTasksToCompleteOnShutdown: boolean,
          awaitTerminationMs: plus(number, { value: -1 }),
          ref: boolean,
        }),
      },
    },
  },
  { name: 'ScheduledTaskRegistrar', subject: ScheduledTaskRegistrar, calls: { new: {} } },
  {
    name: 'ScheduledTaskRegistrar.prototype',
    subject: new ScheduledTaskRegistrar(),
    calls: {
      setTaskScheduler: { scheduler: oneOf('x') },
      addTriggerTask: { task, trigger: { ...oneOf('0 0 7 * * *'), good: new PeriodicTaskTrigger('5s') } },
      addCronTask: {
        task,
        expression: { ...text, good: '0 0 7 * * *' },
        options: options({ zone: named(zone, { field: 'timeZone' }), dst: oneOf('vixie') }),
      },
      addFixedRateTask: { task, period: duration, options: initialDelay },
      addFixedDelayTask: { task, delay: duration, options: initialDelay },
      addOneTimeTask: { task, initialDelay: orNull(duration) },
      getScheduledTasks: { because: 'filters by what it is given' },
      schedule: {},
      destroy: {},
    },
  },
]
