import {
  DelayedWorkQueue,
  defineWorkerTask,
  Executors,
  HashedWheelTimer,
  ScheduledExecutor,
  Timer,
  TimerTask,
} from '../../src/executors.ts'
import {
  aClock,
  aLogger,
  boolean,
  but,
  callback,
  date,
  type Kind,
  named,
  number,
  object,
  oneOf,
  optional,
  options,
  plus,
  text,
} from './kinds.ts'
import type { Call, Exempt, Surface } from './surface.ts'

const task = named(callback, { field: 'task' })
const delay = { ...number, wrong: number.wrong }
const period = plus(number, { value: 0 }, { value: -1 })
const when = plus(but(date, 0, new Date(0)), { value: -1 })
const size = named(plus(number, { value: -1 }), { code: 'ERR_INVALID_OPTION' })
const executorOptions = {
  removeOnCancel: but(boolean, null),
  onError: oneOf('stop'),
  engine: oneOf('heap'),
  ref: boolean,
  logger: aLogger,
  clock: aClock,
}
const tasks: Kind = {
  ...but(object, undefined),
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
  awaitTermination: { timeoutMs: optional(number) },
  ref: {},
  unref: {},
}

const queue: Record<string, Call | Exempt> = {
  offer: { item: { ...object, good: { sequence: 0, queueIndex: -1 } }, delayMs: number },
  poll: {},
  pollWithin: { timeoutMs: { ...number, good: 0 } },
  take: { because: 'takes a signal only' },
  remove: { item: object },
  getDelay: { item: object },
  drainTo: {
    target: {
      good: [],
      wrong: [{ value: undefined }, { value: null }, { value: {} }],
      code: 'ERR_INVALID_ARGUMENT',
    },
  },
  clear: {},
}
const queueOptions = { clock: aClock, ref: boolean }

export const executorSurfaces: readonly Surface[] = [
  {
    name: 'functions',
    subject: { defineWorkerTask },
    calls: {
      defineWorkerTask: {
        moduleUrl: { good: import.meta.url, wrong: [], code: '' },
        options: options({ exportName: text, data: object }),
      },
    },
  },
  {
    name: 'ScheduledExecutor',
    subject: ScheduledExecutor,
    calls: { new: { options: options({ ...executorOptions, corePoolSize: but(size, null) }) } },
  },
  {
    name: 'ScheduledExecutor.prototype',
    subject: new ScheduledExecutor(),
    calls: {
      ...service,
      reconfigure: { options: { ...options({ removeOnCancel: but(boolean, null) }) } },
      purge: {},
    },
  },
  {
    name: 'Executors',
    subject: Executors,
    calls: {
      newSingleThreadScheduledExecutor: { options: options(executorOptions) },
      newScheduledThreadPool: { corePoolSize: but(size, undefined, null), options: options(executorOptions) },
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
      new: { options: options({ failFast: boolean, ref: boolean, logger: aLogger, clock: aClock }) },
    },
  },
  {
    name: 'Timer.prototype',
    subject: new Timer(),
    calls: {
      schedule: { task, when, periodMs: optional(period) },
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
    calls: { new: { options: options(queueOptions) } },
  },
  {
    name: 'HashedWheelTimer',
    subject: HashedWheelTimer,
    calls: {
      new: {
        options: options({ ...queueOptions, tickMs: number, ticksPerWheel: plus(number, { value: 0 }) }),
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
