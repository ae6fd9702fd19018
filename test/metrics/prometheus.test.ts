import { Registry } from 'prom-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  defineJob,
  JobBuilder,
  jobKey,
  ramJobStore,
  type Scheduler,
  TriggerBuilder,
  triggerKey,
} from '../../src/index.ts'
import { instruments, prometheusName } from '../../src/metrics/instruments.ts'
import { prometheusPlugin } from '../../src/metrics.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'

/** The lines of one metric, without those of its buckets. */
async function linesOf(metrics: { metrics(): Promise<string> }, name: string): Promise<string[]> {
  const text = await metrics.metrics()
  return text.split('\n').filter((line) => line.startsWith(name) && !line.startsWith(`${name}_bucket`))
}

/** As {@link linesOf}, without what has not happened. */
async function countsOf(metrics: { metrics(): Promise<string> }, name: string): Promise<string[]> {
  return (await linesOf(metrics, name)).filter((line) => !line.endsWith(' 0')).sort()
}

async function fireOnce(scheduler: Scheduler, name: string, group: string, atMs: number): Promise<void> {
  const job = JobBuilder.newJob('job').withIdentity(name, group).build()
  await scheduler.scheduleJob(
    job,
    TriggerBuilder.newTrigger().withIdentity(name, group).startAt(new Date(atMs)).build(),
  )
}

describe('the Prometheus plugin', () => {
  it('exports every instrument under its name and with its labels', async () => {
    const metrics = prometheusPlugin()
    const { scheduler } = await shellRig([], { plugins: [metrics] })
    const text = await metrics.metrics()
    expect(metrics.contentType).toMatch(/^text\/plain/)
    for (const spec of Object.values(instruments)) {
      expect(text).toContain(`# HELP ${prometheusName(spec)} ${spec.description}\n`)
      const type = spec.kind
      expect(text).toContain(`# TYPE ${prometheusName(spec)} ${type}\n`)
    }
    await scheduler.shutdown()
  })

  it('counts fires, outcomes, lateness, durations and retries by job group', async () => {
    const metrics = prometheusPlugin()
    const job = jobOf(
      ({ attempt }) => {
        if (attempt === 1) throw new Error('the first time')
      },
      { retry: { attempts: 2, backoff: { type: 'fixed', initialMs: 1000 } } },
    )
    const { clock, scheduler, startMs } = await shellRig([job], { plugins: [metrics] })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(5000)
    const labels = 'scheduler="QuartzScheduler",job_group="DEFAULT"'
    expect(await linesOf(metrics, 'quartz_fires_total')).toEqual([`quartz_fires_total{${labels}} 2`])
    expect(await countsOf(metrics, 'quartz_executions_total')).toEqual([
      `quartz_executions_total{${labels},outcome="failed"} 1`,
      `quartz_executions_total{${labels},outcome="succeeded"} 1`,
    ])
    expect(await linesOf(metrics, 'quartz_retries_total')).toEqual([`quartz_retries_total{${labels}} 1`])
    expect(await linesOf(metrics, 'quartz_execution_duration_seconds')).toContain(
      `quartz_execution_duration_seconds_count{${labels}} 2`,
    )
    expect(await linesOf(metrics, 'quartz_fire_lateness_seconds')).toContain(
      `quartz_fire_lateness_seconds_count{${labels}} 2`,
    )
    // The pause before the retry makes nothing late.
    expect(await linesOf(metrics, 'quartz_fire_lateness_seconds')).toContain(
      `quartz_fire_lateness_seconds_sum{${labels}} 0`,
    )
    expect(await linesOf(metrics, 'quartz_pool_size')).toEqual([
      'quartz_pool_size{scheduler="QuartzScheduler"} 2',
    ])
    await scheduler.shutdown()
    expect(await linesOf(metrics, 'quartz_pool_size')).toEqual([])
  })

  it('counts from 0 what alerts wait for, so that the first one is an increase', async () => {
    const metrics = prometheusPlugin()
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], { plugins: [metrics] })
    const error = 'quartz_triggers_in_error_total{scheduler="QuartzScheduler"} 0'
    expect(await linesOf(metrics, 'quartz_triggers_in_error_total')).toEqual([error])
    await fireOnce(scheduler, 'job', 'a', startMs)
    await clock.advance(10)
    const labels = 'scheduler="QuartzScheduler",job_group="a"'
    expect(await linesOf(metrics, 'quartz_retries_exhausted_total')).toEqual([
      `quartz_retries_exhausted_total{${labels}} 0`,
    ])
    const executions = await linesOf(metrics, 'quartz_executions_total')
    for (const outcome of ['failed', 'interrupted', 'lost', 'timedOut']) {
      expect(executions).toContain(`quartz_executions_total{${labels},outcome="${outcome}"} 0`)
    }
    expect(await linesOf(metrics, 'quartz_misfires_total')).toContain(
      `quartz_misfires_total{${labels},cause="pool_full"} 0`,
    )
    await scheduler.shutdown()
  })

  it('says why triggers misfired', async () => {
    const metrics = prometheusPlugin()
    let end = (): void => {}
    const job = jobOf(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    const { clock, scheduler, startMs } = await shellRig([job], {
      plugins: [metrics],
      threadPool: { size: 1 },
    })
    await fireOnce(scheduler, 'long', 'a', startMs)
    await clock.advance(10)
    await fireOnce(scheduler, 'starved', 'a', startMs + 1000)
    await clock.advance(120_000)
    end()
    await clock.advance(10)
    end()
    await clock.advance(10)
    await scheduler.standby()
    await fireOnce(scheduler, 'missed', 'b', clock.now() + 1000)
    await clock.advance(120_000)
    await scheduler.start()
    await clock.advance(10)
    expect(await countsOf(metrics, 'quartz_misfires_total')).toEqual([
      'quartz_misfires_total{scheduler="QuartzScheduler",job_group="a",cause="pool_full"} 1',
      'quartz_misfires_total{scheduler="QuartzScheduler",job_group="b",cause="not_running"} 1',
    ])
    end()
    await scheduler.shutdown()
  })

  it('takes what a caller asked in vain for no failure of the store', async () => {
    const metrics = prometheusPlugin()
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], { plugins: [metrics] })
    await fireOnce(scheduler, 'paused', 'a', startMs + 1000)
    await scheduler.pauseTrigger(triggerKey('paused', 'a'))
    await clock.advance(120_000)
    const again = fireOnce(scheduler, 'paused', 'a', startMs + 1000)
    await expect(again).rejects.toMatchObject({ code: 'ERR_OBJECT_ALREADY_EXISTS' })
    const calls = (await linesOf(metrics, 'quartz_store_call_duration_seconds_count')).join('\n')
    expect(calls).toMatch(/result="refused"\} 1$/m)
    expect(calls).not.toContain('result="error"')
    await scheduler.resumeTrigger(triggerKey('paused', 'a'))
    await clock.advance(1000)
    expect(await countsOf(metrics, 'quartz_misfires_total')).toEqual([
      'quartz_misfires_total{scheduler="QuartzScheduler",job_group="a",cause="other"} 1',
    ])
    await scheduler.shutdown()
  })

  it('refuses a registry that has these metrics already, and says what to do', async () => {
    const register = new Registry()
    const { scheduler } = await shellRig([], { plugins: [prometheusPlugin({ register })] })
    await expect(shellRig([], { plugins: [prometheusPlugin({ register })] })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      field: 'register',
      message: expect.stringContaining('quartz_fires_total already') as string,
    })
    await scheduler.shutdown()
  })

  it('keeps the number of job groups bounded', async () => {
    const metrics = prometheusPlugin({ maxJobGroups: 2 })
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], { plugins: [metrics] })
    for (const group of ['a', 'b', 'c', 'd']) await fireOnce(scheduler, 'job', group, startMs)
    await clock.advance(10)
    expect((await linesOf(metrics, 'quartz_fires_total')).sort()).toEqual([
      'quartz_fires_total{scheduler="QuartzScheduler",job_group="a"} 1',
      'quartz_fires_total{scheduler="QuartzScheduler",job_group="b"} 1',
      'quartz_fires_total{scheduler="QuartzScheduler",job_group="other"} 2',
    ])
    await scheduler.shutdown()
  })

  it('measures the calls and the statements of a store, and counts failures by code', async () => {
    const metrics = prometheusPlugin()
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], {
      plugins: [metrics],
      jobStore: sqliteJobStore({ filename: ':memory:' }),
    })
    await fireOnce(scheduler, 'job', 'a', startMs)
    await clock.advance(10)
    await scheduler.idle()
    const calls = await linesOf(metrics, 'quartz_store_call_duration_seconds_count')
    for (const operation of ['initialize', 'scheduleAndFire', 'acquireAndFire', 'triggeredJobsComplete']) {
      expect(calls.join('\n')).toContain(`operation="${operation}",result="ok"`)
    }
    const statements = await linesOf(metrics, 'quartz_store_statement_duration_seconds_count')
    expect(statements.join('\n')).toMatch(/keyword="(select|with)"/)
    await scheduler.shutdown()
  })

  it('tells two schedulers of one process apart, beside metrics of the program itself', async () => {
    const register = new Registry()
    const metrics = prometheusPlugin({ register })
    const rig = async (schedulerName: string) =>
      shellRig([jobOf(() => {})], { plugins: [metrics], schedulerName, jobStore: ramJobStore() })
    const [one, two] = [await rig('one'), await rig('two')]
    await fireOnce(one.scheduler, 'job', 'a', one.startMs)
    await fireOnce(two.scheduler, 'job', 'a', two.startMs)
    await one.clock.advance(10)
    await two.clock.advance(10)
    expect((await linesOf(register, 'quartz_fires_total')).sort()).toEqual([
      'quartz_fires_total{scheduler="one",job_group="a"} 1',
      'quartz_fires_total{scheduler="two",job_group="a"} 1',
    ])
    await one.scheduler.shutdown()
    expect((await linesOf(register, 'quartz_nodes')).sort()).toEqual([
      'quartz_nodes{scheduler="two",state="alive"} 1',
      'quartz_nodes{scheduler="two",state="failed"} 0',
      'quartz_nodes{scheduler="two",state="overdue"} 0',
    ])
    await two.scheduler.shutdown()
  })

  it('counts vetoes, and a run that is refired as one firing', async () => {
    const metrics = prometheusPlugin()
    const { JobExecutionError } = await import('../../src/index.ts')
    const again = defineJob('again', ({ refireCount }) => {
      if (refireCount === 0) throw new JobExecutionError('again', { refireImmediately: true })
    })
    const { clock, scheduler, startMs } = await shellRig([again, jobOf(() => {})], { plugins: [metrics] })
    onTestFinished(() => scheduler.shutdown())
    scheduler.listenerManager.addTriggerListener({
      name: 'veto',
      vetoJobExecution: ({ key }) => key.group === 'vetoed',
    })
    await fireOnce(scheduler, 'job', 'vetoed', startMs)
    await scheduler.scheduleJob(
      JobBuilder.newJob(again).withIdentity(jobKey('again', 'refired')).build(),
      firing(startMs),
    )
    await clock.advance(10)
    expect(await countsOf(metrics, 'quartz_executions_total')).toEqual([
      'quartz_executions_total{scheduler="QuartzScheduler",job_group="refired",outcome="failed"} 1',
      'quartz_executions_total{scheduler="QuartzScheduler",job_group="refired",outcome="succeeded"} 1',
      'quartz_executions_total{scheduler="QuartzScheduler",job_group="vetoed",outcome="vetoed"} 1',
    ])
    const fires = await linesOf(metrics, 'quartz_fires_total')
    expect(fires).toContain('quartz_fires_total{scheduler="QuartzScheduler",job_group="refired"} 1')
  })

  it('refuses options that make no sense', () => {
    for (const options of [{ maxJobGroups: 0 }, { register: {} }, { buckets: [1] }]) {
      expect(() => prometheusPlugin(options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
      )
    }
  })
})
