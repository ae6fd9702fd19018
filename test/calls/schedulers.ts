import {
  ConcurrentTaskScheduler,
  CronTaskTrigger,
  enableScheduling,
  hasScheduledMethods,
  PeriodicTaskTrigger,
  Scheduled,
  ScheduledTaskRegistrar,
  scheduled,
  ThreadPoolTaskScheduler,
} from '../../src/annotations.ts'
import { ScheduledExecutor } from '../../src/executors.ts'
import * as kinds from './kinds.ts'
import type { Surface } from './surface.ts'

const optionCode = 'ERR_INVALID_OPTION'
const task = kinds.callback
const duration = {
  ...kinds.named(kinds.oneOf('5s'), { code: optionCode }),
  wrong: [{ value: null }, { value: 'soon' }, { value: {} }],
}
const behaviour = { errorHandler: kinds.callback, logger: kinds.aLogger, clock: kinds.aClock }
const scheduledOptions: kinds.Kind = {
  ...kinds.named(kinds.object, { field: 'options', code: optionCode }),
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
const startTime: kinds.Kind = {
  good: new Date(0),
  code: 'ERR_INVALID_ARGUMENT',
  wrong: [{ value: undefined }, { value: null }, { value: 'tomorrow' }, { value: {} }],
}
const initialDelay = kinds.options({ initialDelay: duration })

export const annotationSurfaces: readonly Surface[] = [
  {
    name: 'functions',
    subject: { enableScheduling, hasScheduledMethods, Scheduled, scheduled },
    calls: {
      enableScheduling: {
        options: {
          ...kinds.options({
            instances: {
              ...kinds.listOf(kinds.text),
              wrong: [{ value: {} }, { value: 'x' }, { value: null }],
            },
            resolve: kinds.callback,
            ...behaviour,
            configurers: kinds.listOf({ ...kinds.oneOf('x'), good: { configureTasks: () => {} } }),
            scheduler: kinds.oneOf('x'),
            cluster: kinds.oneOf('x'),
            application: kinds.name,
            removeUnknown: kinds.boolean,
          }),
          good: { instances: [] },
        },
      },
      hasScheduledMethods: { instance: kinds.anyObject },
      Scheduled: { options: scheduledOptions },
      scheduled: { options: scheduledOptions, method: kinds.callback },
    },
  },
  {
    name: 'CronTaskTrigger',
    subject: CronTaskTrigger,
    calls: {
      new: {
        expression: { ...kinds.text, good: '0 0 7 * * *' },
        options: kinds.options({
          zone: kinds.named(kinds.zone, { field: 'timeZone' }),
          dst: kinds.oneOf('vixie'),
        }),
      },
    },
  },
  {
    name: 'PeriodicTaskTrigger',
    subject: PeriodicTaskTrigger,
    calls: {
      new: {
        period: duration,
        options: kinds.options({ initialDelay: kinds.but(duration, null), fixedRate: kinds.boolean }),
      },
    },
  },
  {
    name: 'ConcurrentTaskScheduler',
    subject: ConcurrentTaskScheduler,
    calls: { new: { executor: { ...kinds.oneOf('x'), good: executor }, options: kinds.options(behaviour) } },
  },
  {
    name: 'ConcurrentTaskScheduler.prototype',
    subject: new ConcurrentTaskScheduler(executor),
    calls: {
      schedule: { task, startTime },
      scheduleAtFixedRate: { task, startTime, period: duration },
      scheduleWithFixedDelay: { task, startTime, delay: duration },
      cancelTriggered: {},
      warnOfRunning: {},
    },
  },
  {
    name: 'ThreadPoolTaskScheduler',
    subject: ThreadPoolTaskScheduler,
    calls: {
      new: {
        options: kinds.options({
          ...behaviour,
          poolSize: kinds.plus(kinds.number, { value: 0 }),
          waitForTasksToCompleteOnShutdown: kinds.boolean,
          awaitTerminationMs: kinds.plus(kinds.number, { value: -1 }),
          ref: kinds.boolean,
        }),
      },
    },
  },
  { name: 'ScheduledTaskRegistrar', subject: ScheduledTaskRegistrar, calls: { new: {} } },
  {
    name: 'ScheduledTaskRegistrar.prototype',
    subject: new ScheduledTaskRegistrar(),
    calls: {
      setTaskScheduler: { scheduler: kinds.oneOf('x') },
      addTriggerTask: {
        task,
        trigger: { ...kinds.oneOf('0 0 7 * * *'), good: new PeriodicTaskTrigger('5s') },
      },
      addCronTask: {
        task,
        expression: { ...kinds.text, good: '0 0 7 * * *' },
        options: kinds.options({
          zone: kinds.named(kinds.zone, { field: 'timeZone' }),
          dst: kinds.oneOf('vixie'),
        }),
      },
      addFixedRateTask: { task, period: duration, options: initialDelay },
      addFixedDelayTask: { task, delay: duration, options: initialDelay },
      addOneTimeTask: { task, initialDelay: kinds.orNull(duration) },
      getScheduledTasks: { because: 'filters by what it is given' },
      schedule: {},
      destroy: {},
    },
  },
]
