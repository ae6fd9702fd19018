import { describe, expect, test } from 'vitest'
import * as alerts from '../../src/alerts.ts'
import * as annotations from '../../src/annotations.ts'
import * as config from '../../src/config.ts'
import * as executors from '../../src/executors.ts'
import * as index from '../../src/index.ts'
import * as metrics from '../../src/metrics.ts'
import * as otel from '../../src/otel.ts'
import * as server from '../../src/server.ts'
import * as spi from '../../src/spi.ts'
import * as xxlJob from '../../src/xxl-job.ts'
import { calendarSurfaces } from './calendars.ts'
import { cronSurfaces } from './cron.ts'
import { executorSurfaces } from './executors.ts'
import { functionSurfaces } from './functions.ts'
import { jobSurfaces } from './jobs.ts'
import { annotationSurfaces } from './schedulers.ts'
import { errorOf, methodsOf, type Surface, wrongCallsOf } from './surface.ts'
import { triggerSurfaces } from './triggers.ts'
import { xxlJobSurfaces } from './xxl-job.ts'

const surfaces: readonly Surface[] = [
  ...functionSurfaces,
  ...jobSurfaces,
  ...triggerSurfaces,
  ...calendarSurfaces,
  ...cronSurfaces,
  ...executorSurfaces,
  ...annotationSurfaces,
  ...xxlJobSurfaces,
]

/** What has no table, and why. */
const exempt: Readonly<Record<string, string>> = {
  ListenerManager: 'in the table of the scheduler',
  PendingReply: 'a runner settles it',
  DelegatingJobStore: 'the scheduler calls it, with what it has checked',
  OpenFirings: 'a store calls it, with what it has stored',
  endedSharding: 'as OpenFirings',
  firingPartOf: 'as OpenFirings',
  isSplit: 'as OpenFirings',
  shownFiring: 'as OpenFirings',
  withoutOwner: 'as OpenFirings',
  Trigger: 'made by builders; its methods are called for every firing',
  RecurringTrigger: 'as Trigger',
  createScheduler: 'in the table of the scheduler',
  alertsPlugin: 'takes options only, see test/alerts/alerts.test.ts',
  webhookChannel: 'takes options only, see test/alerts/channels.test.ts',
  mailChannel: 'takes options only, see test/alerts/channels.test.ts',
  prometheusPlugin: 'takes options only, see test/metrics/prometheus.test.ts',
  openTelemetryPlugin: 'takes options only, see test/metrics/otel.test.ts',
  createServer: 'takes options only, see test/server/options.test.ts',
  createXxlJobAdmin: 'takes options only, see test/xxl-job/admin.test.ts',
  createXxlJobExecutor: 'takes options only, see test/xxl-job/options.test.ts',
  compareKeys: 'sorts lists of keys',
  compareFireOrder: 'sorts lists of triggers',
  everything: 'takes nothing',
  zeroSizeThreadPool: 'takes nothing',
  systemClock: 'a Clock: the library calls it',
  asSeen: 'called for what a store has read itself',
  dataAfterRun: 'called for what a store has read itself',
  inPlaceOf: 'called for what a store has read itself',
  generationInForce: 'called for what a store has read itself',
  isDeclaredUpTo: 'called for what a store has read itself',
  planChange: 'called for what a store has read itself',
  logAndSuppress: 'answers an error handler',
  logAndRethrow: 'answers an error handler',
}

function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}

const isError = (value: unknown): boolean => typeof value === 'function' && value.prototype instanceof Error

const entryPoints: Readonly<Record<string, unknown>> = {
  ...index,
  ...alerts,
  ...config,
  ...executors,
  ...metrics,
  ...otel,
  ...server,
  ...spi,
  ...xxlJob,
}
const exportsToTable = [...Object.entries(entryPoints), ...Object.entries<unknown>(annotations)]
  .filter(([, value]) => (typeof value === 'function' && !isError(value)) || isNamespace(value))
  .map(([name]) => name)

function isNamespace(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).some((each) => typeof each === 'function')
  )
}

test('every function, class and namespace of the entry points has a table', () => {
  const tabled = new Set<string>(Object.keys(exempt))
  for (const { name, calls } of surfaces) {
    tabled.add(name)
    if (name === 'functions') for (const called of Object.keys(calls)) tabled.add(called)
  }
  expect(exportsToTable.filter((name) => !tabled.has(name))).toEqual([])
})

describe.each(surfaces)('$name', (surface) => {
  test('has every method in the table', () => {
    const methods = methodsOf(surface.subject)
    expect(methods.filter((method) => surface.calls[method] === undefined)).toEqual([])
    const called = Object.keys(surface.calls).filter((name) => name !== 'new')
    expect(called.filter((name) => !methods.includes(name))).toEqual([])
  })

  for (const call of wrongCallsOf(surface)) {
    test(call.title, async () => {
      expect(await errorOf(call)).toMatchObject({ code: call.code, field: call.field })
    })
  }
})

test('classes that a call makes are classes', () => {
  const made = surfaces.filter(({ calls }) => calls['new'] !== undefined)
  expect(made.filter(({ subject }) => !isClass(subject)).map(({ name }) => name)).toEqual([])
})
