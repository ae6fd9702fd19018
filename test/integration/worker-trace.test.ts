import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createScheduler, defineWorkerJob, JobBuilder, jobKey, type Logger } from 'quartz-ts'
import { openTelemetryPlugin } from 'quartz-ts/otel'
import { expect, onTestFinished, test } from 'vitest'

test('the trace of a run is active in the thread of its worker job, and in what comes back from it', async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  onTestFinished(() => {
    context.disable()
  })
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const here = (): string | undefined => trace.getSpanContext(context.active())?.spanId
  const loggedIn: (string | undefined)[] = []
  const ignore = (): void => {}
  const logger: Logger = { debug: ignore, warn: ignore, error: ignore, info: () => loggedIn.push(here()) }
  const moduleUrl = new URL('../fixtures/workers/traced.mjs', import.meta.url)
  const job = defineWorkerJob('activeTrace', moduleUrl, { exportName: 'activeTrace' })
  await using scheduler = await createScheduler({
    jobs: [job],
    logger,
    plugins: [openTelemetryPlugin({ tracerProvider })],
    threadPool: { size: 1 },
  })
  const progressIn: (string | undefined)[] = []
  scheduler.events.on('jobProgress', () => progressIn.push(here()))
  await scheduler.addJob(JobBuilder.newJob(job).withIdentity('traced').storeDurably().build())
  await scheduler.start()
  const executed = scheduler.events.next('jobWasExecuted')
  await scheduler.triggerJob(jobKey('traced'))
  const ran = await executed
  await scheduler.idle()
  const run = exporter.getFinishedSpans().find(({ name }) => name === 'run activeTrace')
  const { traceId, spanId } = run?.spanContext() ?? {}
  expect(ran.error).toBe(null)
  expect(ran.context.result).toMatchObject({ traceId, spanId, isRemote: true })
  expect(loggedIn).toContain(spanId)
  expect(progressIn).toEqual([spanId])
})
