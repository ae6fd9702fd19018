import { context as contexts, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineRemoteJob, type JobRunContext } from '../../src/index.ts'
import { attributeName, instruments } from '../../src/metrics/instruments.ts'
import { openTelemetryPlugin, traced } from '../../src/otel.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'

function tracing(): { readonly tracerProvider: BasicTracerProvider; readonly spans: () => ReadableSpan[] } {
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  return { tracerProvider, spans: () => exporter.getFinishedSpans() }
}

const named = (spans: readonly ReadableSpan[], name: string): readonly ReadableSpan[] =>
  spans.filter((span) => span.name === name)

describe('spans', () => {
  beforeAll(() => {
    contexts.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  })
  afterAll(() => {
    contexts.disable()
  })

  it('show each run as a trace of its own, linked to what fired it and to the write of its end', async () => {
    const { tracerProvider, spans } = tracing()
    const job = jobOf(async ({ attempt }) => {
      await Promise.resolve()
      tracerProvider.getTracer('job').startSpan('work').end()
      if (attempt === 1) throw new RangeError('out of range')
    })
    const { clock, scheduler, startMs } = await shellRig([job], {
      plugins: [openTelemetryPlugin({ tracerProvider })],
    })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    await scheduler.idle()
    const [acquire] = named(spans(), 'acquire')
    const [fire] = named(spans(), 'fire')
    const [run] = named(spans(), 'run job')
    const [work] = named(spans(), 'work')
    const [complete] = named(spans(), 'complete')
    expect(run?.parentSpanContext).toBeUndefined()
    expect(run?.links.map(({ context }) => context.spanId)).toEqual([fire?.spanContext().spanId])
    expect(fire?.links.map(({ context }) => context.spanId)).toEqual([acquire?.spanContext().spanId])
    expect(work?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId)
    expect(complete?.links.map(({ context }) => context.spanId)).toEqual([run?.spanContext().spanId])
    expect(run?.attributes).toMatchObject({
      'quartz.scheduler': 'QuartzScheduler',
      'quartz.job.group': 'DEFAULT',
      'quartz.job.name': 'job',
      'quartz.trigger.name': 'trigger',
      'quartz.attempt': 1,
      'quartz.outcome': 'failed',
    })
    expect(run?.status).toMatchObject({ code: 2 })
    expect(run?.events.map(({ name }) => name)).toEqual(['exception'])
    await scheduler.shutdown()
  })

  it('of remote jobs say that the work was sent, and are linked to the end that this node writes', async () => {
    const { tracerProvider, spans } = tracing()
    const sending = defineRemoteJob('job', async (context) => {
      await context.awaitResult({ reference: 'run', timeoutMs: 60_000 })
    })
    const { clock, scheduler, startMs } = await shellRig([sending], {
      plugins: [openTelemetryPlugin({ tracerProvider })],
    })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    await scheduler.idle()
    const [run] = named(spans(), 'run job')
    expect(run?.attributes).toMatchObject({ 'quartz.outcome': 'sent' })
    expect(named(spans(), 'complete')).toEqual([])
    await scheduler.reportResult('run', { error: 'boom' })
    const [complete] = named(spans(), 'complete')
    expect(complete?.links.map(({ context }) => context.spanId)).toEqual([run?.spanContext().spanId])
    await scheduler.shutdown()
  })

  it('of more than 10,000 remote jobs are forgotten, the oldest first: other nodes may end them', async () => {
    const { tracerProvider, spans } = tracing()
    const sent: string[] = []
    const sending = defineRemoteJob(
      'job',
      async (context) => {
        await context.awaitResult({ timeoutMs: 60_000 })
        sent.push(context.fireInstanceId)
      },
      { items: () => 1000, sendsAtOnce: 1000 },
    )
    const { scheduler } = await shellRig([sending], { plugins: [openTelemetryPlugin({ tracerProvider })] })
    const job = detailOf('job', (builder) => builder.storeDurably())
    await scheduler.addJob(job)
    for (let firing = 0; firing < 11; firing++) await scheduler.triggerJob(job.key)
    await scheduler.idle()
    expect(sent).toHaveLength(11_000)
    const linksOfEnd = async (reference: string | undefined): Promise<number | undefined> => {
      await scheduler.reportResult(reference ?? '', {})
      return named(spans(), 'complete').at(-1)?.links.length
    }
    expect(await linksOfEnd(sent[0])).toBe(0)
    expect(await linksOfEnd(sent.at(-1))).toBe(1)
    await scheduler.shutdown()
  })

  it('are made of steps that fail, and of none that find nothing', async () => {
    const { tracerProvider, spans } = tracing()
    const { clock, scheduler, store } = await shellRig([], {
      plugins: [openTelemetryPlugin({ tracerProvider })],
    })
    await clock.advance(60_000)
    expect(spans()).toEqual([])
    store.failOn({ operation: 'acquireNextTriggers', error: new Error('away') })
    await clock.advance(60_000)
    expect(named(spans(), 'acquire').map(({ status }) => status)).toEqual([{ code: 2, message: 'away' }])
    await scheduler.shutdown()
  })

  it('cross into a worker thread as text', async () => {
    const { tracerProvider, spans } = tracing()
    const seen: JobRunContext['traceContext'][] = []
    const { clock, scheduler, startMs } = await shellRig(
      [jobOf(({ traceContext }) => seen.push(traceContext))],
      { plugins: [openTelemetryPlugin({ tracerProvider })] },
    )
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    const [run] = named(spans(), 'run job')
    const { traceId = '', spanId = '' } = run?.spanContext() ?? {}
    expect(seen).toEqual([{ traceparent: `00-${traceId}-${spanId}-01`, tracestate: null }])
    const inThread = traced<Pick<JobRunContext, 'traceContext'>, unknown>(() =>
      trace.getSpanContext(contexts.active()),
    )
    expect(inThread({ traceContext: seen[0] ?? null })).toMatchObject({ traceId, spanId, isRemote: true })
    expect(inThread({ traceContext: null })).toBeUndefined()
    expect(inThread({ traceContext: { traceparent: 'junk', tracestate: null } })).toBeUndefined()
    await scheduler.shutdown()
  })
})

describe('measurements', () => {
  it('have the names, units and attributes of the list of instruments', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
    const meterProvider = new MeterProvider({ readers: [reader] })
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], {
      plugins: [openTelemetryPlugin({ meterProvider })],
    })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs, 3))
    await clock.advance(5000)
    await reader.forceFlush()
    const found = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    const byName = new Map(found.map((metric) => [metric.descriptor.name, metric]))
    const fires = byName.get('quartz.fires')
    expect(fires?.descriptor.unit).toBe('{fire}')
    expect(fires?.dataPoints.map(({ attributes, value }) => ({ attributes, value }))).toEqual([
      { attributes: { 'quartz.scheduler': 'QuartzScheduler', 'quartz.job.group': 'DEFAULT' }, value: 3 },
    ])
    const specs = new Map(Object.values(instruments).map((spec) => [spec.name, spec]))
    for (const { descriptor, dataPoints } of found) {
      const spec = specs.get(descriptor.name)
      expect(descriptor).toMatchObject({ unit: spec?.unit, description: spec?.description })
      for (const { attributes } of dataPoints) {
        expect(Object.keys(attributes)).toEqual(spec?.labels.map(attributeName))
      }
    }
    expect(byName.has('quartz.execution.duration')).toBe(true)
    expect(byName.has('quartz.event_loop.lag')).toBe(true)
    await scheduler.shutdown()
    await meterProvider.shutdown()
  })
})

it('the OpenTelemetry plugin refuses options that make no sense', () => {
  for (const options of [{ maxJobGroups: 0 }, { tracerProvider: {} }, { exporter: 'otlp' }]) {
    expect(() => openTelemetryPlugin(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    )
  }
})
