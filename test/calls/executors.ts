import {
  DelayedWorkQueue,
  defineWorkerTask,
  Executors,
  HashedWheelTimer,
  ScheduledExecutor,
  Timer,
  TimerTask,
} from '../../src/executors.ts'
import * as kinds from './kinds.ts'
import type { Call, Exempt, Surface } from './surface.ts'

const task = kinds.named(kinds.callback, { field: 'task' })
const delay = { ...kinds.number, wrong: kinds.number.wrong }
const period = kinds.plus(kinds.number, { value: 0 }, { value: -1 })
const when = kinds.plus(kinds.but(kinds.date, 0, new Date(0)), { value: -1 })
const size = kinds.named(kinds.plus(kinds.number, { value: -1 }), { code: 'ERR_INVALID_OPTION' })
const executorOptions = {
  removeOnCancel: kinds.but(kinds.boolean, null),
  onError: kinds.oneOf('stop'),
  engine: kinds.oneOf('heap'),
  ref: kinds.boolean,
  logger: kinds.aLogger,
  clock: kinds.aClock,
}
const tasks: kinds.Kind = {
  ...kinds.but(kinds.object, undefined),
  wrong: [{ value: undefined }, { value: null }, { value: 42 }],
}

const service: Record<string, Call | Exempt> = {
  schedule: { task, delayMs: delay },
  scheduleAtFixedRate: { task, initialDelayMs: delay, periodMs: period },
  scheduleWithFixedDelay: { task, initialDelayMs: delay, delayMs: period },
  execute: { task },
  submit: { task },
  invokeAll: { tasks },
  invokeAny: { tasks },
  shutdown: {},
  shutdownNow: {},
  awaitTermination: { timeoutMs: kinds.optional(kinds.number) },
  ref: {},
  unref: {},
}

const signal: kinds.Kind = {
  good: undefined,
  wrong: [{ value: null }, { value: 1000 }, { value: {} }, { value: new AbortController() }],
  code: 'ERR_INVALID_ARGUMENT',
}

const queue: Record<string, Call | Exempt> = {
  offer: { item: { ...kinds.object, good: { sequence: 0, queueIndex: -1 } }, delayMs: kinds.number },
  poll: {},
  pollWithin: { timeoutMs: { ...kinds.number, good: 0 }, signal },
  take: { because: 'waits; its signal is that of pollWithin' },
  remove: { item: kinds.object },
  getDelay: { item: kinds.object },
  drainTo: {
    target: {
      good: [],
      wrong: [{ value: undefined }, { value: null }, { value: {} }],
      code: 'ERR_INVALID_ARGUMENT',
    },
    maxItems: kinds.optional(kinds.number),
  },
  clear: {},
}
const queueOptions = { clock: kinds.aClock, ref: kinds.boolean }

export const executorSurfaces: readonly Surface[] = [
  {
    name: 'functions',
    subject: { defineWorkerTask },
    calls: {
      defineWorkerTask: {
        moduleUrl: { good: import.meta.url, wrong: [], code: '' },
        options: kinds.options({ exportName: kinds.text, data: kinds.object }),
      },
    },
  },
  {
    name: 'ScheduledExecutor',
    subject: ScheduledExecutor,
    calls: { new: { options: kinds.options({ ...executorOptions, corePoolSize: kinds.but(size, null) }) } },
  },
  {
    name: 'ScheduledExecutor.prototype',
    subject: new ScheduledExecutor(),
    calls: {
      ...service,
      reconfigure: { options: { ...kinds.options({ removeOnCancel: kinds.but(kinds.boolean, null) }) } },
      purge: {},
    },
  },
  {
    name: 'Executors',
    subject: Executors,
    calls: {
      newSingleThreadScheduledExecutor: { options: kinds.options(executorOptions) },
      newScheduledThreadPool: {
        corePoolSize: kinds.but(size, undefined, null),
        options: kinds.options(executorOptions),
      },
    },
  },
  {
    name: 'SealedExecutor',
    subject: Executors.newSingleThreadScheduledExecutor(),
    calls: service,
  },
  {
    name: 'Timer',
    subject: Timer,
    calls: {
      new: {
        options: kinds.options({
          failFast: kinds.boolean,
          ref: kinds.boolean,
          logger: kinds.aLogger,
          clock: kinds.aClock,
        }),
      },
    },
  },
  {
    name: 'Timer.prototype',
    subject: new Timer(),
    calls: {
      schedule: { task, when, periodMs: kinds.optional(period) },
      scheduleAtFixedRate: { task, when, periodMs: period },
      cancel: {},
      purge: {},
      ref: {},
      unref: {},
    },
  },
  { name: 'TimerTask', subject: TimerTask, calls: { new: { task } } },
  {
    name: 'DelayedWorkQueue',
    subject: DelayedWorkQueue,
    calls: { new: { options: kinds.options(queueOptions) } },
  },
  {
    name: 'HashedWheelTimer',
    subject: HashedWheelTimer,
    calls: {
      new: {
        options: kinds.options({
          ...queueOptions,
          tickMs: kinds.number,
          ticksPerWheel: kinds.plus(kinds.number, { value: 0 }),
        }),
      },
    },
  },
  {
    name: 'DelayQueue.prototype',
    subject: Object.getPrototypeOf(DelayedWorkQueue.prototype) === null ? {} : queueOf(),
    calls: queue,
  },
]

/** The methods of a queue stand on the class that both kinds extend. */
function queueOf(): object {
  const made = new DelayedWorkQueue()
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(DelayedWorkQueue.prototype))
  return Object.fromEntries(
    methods
      .filter((method) => method !== 'constructor' && method !== 'size')
      .map((method) => [method, (Reflect.get(made, method) as () => unknown).bind(made)]),
  )
}
