import { describe, expect, it } from 'vitest'
import { JobKey } from '../../../../../src/core/key.ts'
import { JobBuilder } from '../../../../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../../../../src/jobs/job-detail.ts'
import { resolveRetryPolicy } from '../../../../../src/jobs/retry-policy.ts'
import { resolveSharding } from '../../../../../src/jobs/sharding.ts'
import { calendarFromJSON } from '../../../../../src/triggers/calendars/calendar-json.ts'
import { TriggerBuilder } from '../../../../../src/triggers/families/trigger-builder.ts'
import { SqlTables } from '../../../../support/sql-tables.ts'

const full = JobBuilder.newJob('report')
  .withIdentity('daily', 'reports')
  .withDescription('d é 😀')
  .usingJobData({ to: 'ops', deep: { list: [1, null, true, 'é'] } })
  .storeDurably()
  .requestRecovery()
  .disallowConcurrentExecution()
  .persistJobDataAfterExecution()
  .withTimeout(5000)
  .withRetry({ attempts: 3, backoff: { type: 'fixed', initialMs: 10 } })
  .build()
const plain = JobBuilder.newJob('report')
  .withIdentity('plain')
  .withDescription(null)
  .withTimeout(null)
  .withRetry(null)
  .build()

async function load(tables: SqlTables, ...keys: JobKey[]): Promise<(JobDetail | undefined)[]> {
  const { found, broken } = await tables.run(tables.jobs.load(keys))
  expect(broken.size).toBe(0)
  return keys.map((key) => found.get(key))
}

async function addTrigger(tables: SqlTables, jobKey: JobKey): Promise<void> {
  const trigger = TriggerBuilder.newTrigger().withIdentity(jobKey.name).forJob(jobKey).build()
  await tables.run(tables.triggers.insert([{ trigger, state: 'WAITING' }]))
}

describe('jobs in their table', () => {
  it('come back as they were inserted and as they were put over others', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.jobs.insert([full, plain]))
    expect(await load(tables, full.key, plain.key, new JobKey('missing'))).toEqual([full, plain, undefined])
    const swapped = [
      { ...plain, key: full.key },
      { ...full, key: plain.key },
    ]
    await tables.run(tables.jobs.put(swapped))
    expect(await load(tables, full.key, plain.key)).toEqual(swapped)
  })

  it('of one key are stored as the last of them, in one call', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.jobs.put([{ ...full, key: plain.key }, plain]))
    expect(await load(tables, plain.key)).toEqual([plain])
  })

  it('keep in the columns that others read what Quartz means by them', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.jobs.insert([plain]))
    const [row] = await tables.query(
      'SELECT job_class_name, description, job_data, timeout_ms, retry_policy, node_affinity FROM qrtz_job_details',
    )
    expect(row).toEqual({
      job_class_name: 'report',
      description: null,
      job_data: null,
      timeout_ms: null,
      retry_policy: null,
      node_affinity: null,
    })
  })

  it('are locked in order of keys and told without their data', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.jobs.insert([full, plain]))
    const refs = await tables.run(tables.jobs.lock([full.key, plain.key, new JobKey('missing')]))
    expect(refs).toEqual([
      {
        key: plain.key,
        jobType: 'report',
        durable: false,
        nonConcurrent: false,
        requestsRecovery: false,
        nodeAffinity: null,
        dataEncoding: null,
      },
      {
        key: full.key,
        jobType: 'report',
        durable: true,
        nonConcurrent: true,
        requestsRecovery: true,
        nodeAffinity: null,
        dataEncoding: 'json',
      },
    ])
    expect(await tables.run(tables.jobs.tryLock([full.key]))).toEqual(refs.slice(1))
    const [ref] = await tables.run(tables.jobs.tryLockWithData([full.key]))
    expect(ref).toEqual({ ...refs[1], stored: { jobDataMap: full.jobDataMap, plan: full.plan } })
  })

  it('have the data that was written back, and nothing else is changed', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.jobs.insert([full, plain]))
    await tables.run(tables.jobs.writeData([{ key: full.key, data: { count: 1 } }]))
    const entries = [
      { key: plain.key, data: { count: 1 } },
      { key: plain.key, data: { count: 2 } },
      { key: new JobKey('missing'), data: { count: 3 } },
    ]
    tables.takeStatements()
    expect(await tables.run(tables.jobs.writeData(entries))).toEqual([])
    expect(tables.takeStatements()).toHaveLength(1)
    expect(await load(tables, full.key, plain.key)).toEqual([
      { ...full, jobDataMap: { count: 1 } },
      { ...plain, jobDataMap: { count: 2 } },
    ])
  })

  it('have their old data when the new cannot be kept as properties, and the others have theirs', async () => {
    const tables = await SqlTables.open('properties')
    const [first, second] = [plain, { ...plain, key: new JobKey('second') }]
    await tables.run(tables.jobs.insert([{ ...first, jobDataMap: { count: '0' } }, second]))
    const entries = [
      { key: first.key, data: { count: 1 } },
      { key: second.key, data: { count: '1' } },
    ]
    const refused = await tables.run(tables.jobs.writeData(entries))
    expect(refused).toEqual([
      { key: first.key, error: expect.objectContaining({ code: 'ERR_INVALID_JOB_DATA' }) as Error },
    ])
    expect(await load(tables, first.key, second.key)).toEqual([
      { ...first, jobDataMap: { count: '0' } },
      { ...second, jobDataMap: { count: '1' } },
    ])
  })

  it('go when they have no trigger left, and as orphans only when they are not durable', async () => {
    const tables = await SqlTables.open()
    const busy = { ...plain, key: new JobKey('busy') }
    await tables.run(tables.jobs.insert([full, plain, busy]))
    await addTrigger(tables, busy.key)
    const keys = [full.key, plain.key, busy.key, new JobKey('missing')]
    const deletion = await tables.run(tables.jobs.deleteOrphans(keys))
    expect(deletion.deleted).toEqual([plain.key])
    await tables.run(tables.jobs.delete(keys))
    expect(await load(tables, ...keys)).toEqual([undefined, undefined, busy, undefined])
  })

  const readable = {
    is_durable: true,
    is_nonconcurrent: false,
    is_update_data: false,
    requests_recovery: false,
  }

  it('are read by what is known of them where a newer version has written more', async () => {
    const tables = await SqlTables.open()
    const key = new JobKey('newer', 'jobs')
    await tables.insertRow('job_details', {
      job_name: key.name,
      job_group: key.group,
      job_class_name: 'report',
      ...readable,
      retry_policy: JSON.stringify({
        attempts: 3,
        onlyOn: 'timeouts',
        backoff: { type: 'fibonacci', initialMs: 10, spread: 1, toString: 1 },
      }),
      sharding: JSON.stringify({ items: 2, strategy: 'weighted', misfire: 'queue', weights: [1, 2] }),
      job_plan: JSON.stringify({ data: {}, generation: 1, reason: 'x' }),
    })
    const [job] = await load(tables, key)
    expect(job?.retry).toEqual(resolveRetryPolicy('test', { attempts: 3, backoff: { initialMs: 10 } }))
    expect(job?.sharding).toEqual(resolveSharding({ items: 2 }))
    expect(job?.plan).toMatchObject({ data: {}, generation: 1 })
  })

  it.each([
    [{ job_data: Buffer.from('{"a":') }, /'job_data'.*JSON/],
    [{ job_data: Buffer.from('a=\\u12') }, /'job_data'.*\\u/],
    [{ retry_policy: '{}' }, /attempts/],
    [{ retry_policy: '{"attempts":3,"backoff":"fixed"}' }, /'backoff' must be an object/],
    [{ retry_policy: '{"attempts":3,"backoff":[]}' }, /'backoff' must be an object/],
    [{ retry_policy: 'x' }, /JSON/],
  ] as const)('that cannot be read are broken by themselves: %o', async (columns, problem) => {
    const tables = await SqlTables.open()
    await tables.addJobs('other')
    const named = { job_name: 'broken', job_group: 'jobs', job_class_name: 'report' }
    await tables.insertRow('job_details', { ...named, ...readable, ...columns })
    const [key, other] = [new JobKey('broken', 'jobs'), new JobKey('other', 'jobs')]
    const { found, broken } = await tables.run(tables.jobs.load([key, other]))
    expect(found.keys()).toEqual([other])
    expect(broken.get(key)).toMatchObject({ name: 'JobPersistenceError', code: 'ERR_BROKEN_ROW' })
    expect(broken.get(key)?.message).toMatch(problem)
    expect(broken.get(key)?.message).toContain("Job 'jobs.broken'")
  })
})

describe('calendars in their table', () => {
  const weekly = calendarFromJSON({ type: 'weekly', timeZone: 'UTC', excludedDays: [1, 7] })
  const monthly = calendarFromJSON({ type: 'monthly', timeZone: 'Europe/Paris', excludedDays: [31] })

  it('come back as they were put, one over the other', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.calendars.put('b', weekly))
    await tables.run(tables.calendars.put('a', weekly))
    await tables.run(tables.calendars.put('b', monthly))
    const loaded = await tables.run(tables.calendars.load(['a', 'b', 'missing', '\0']))
    expect(Object.fromEntries(loaded)).toEqual({ a: weekly, b: monthly })
    expect(await tables.run(tables.calendars.names())).toEqual(['a', 'b'])
  })

  it('are read anew only when their text has changed', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.calendars.put('a', weekly))
    const once = (await tables.run(tables.calendars.load(['a']))).get('a')
    expect((await tables.run(tables.calendars.load(['a']))).get('a')).toBe(once)
    await tables.run(tables.calendars.put('a', monthly))
    expect((await tables.run(tables.calendars.load(['a']))).get('a')).toEqual(monthly)
  })

  it('exist until they are deleted', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.calendars.put('a', weekly))
    expect(await tables.run(tables.calendars.exists('a'))).toBe(true)
    expect(await tables.run(tables.calendars.delete('a'))).toBe(true)
    expect(await tables.run(tables.calendars.delete('a'))).toBe(false)
    expect(await tables.run(tables.calendars.exists('a'))).toBe(false)
    expect(await tables.run(tables.calendars.exists('\0'))).toBe(false)
  })

  it('that cannot be read are errors by themselves', async () => {
    const tables = await SqlTables.open()
    await tables.run(tables.calendars.put('good', weekly))
    await tables.insertRow('calendars', { calendar_name: 'lunar', calendar: Buffer.from('{"type":"lunar"}') })
    await tables.insertRow('calendars', { calendar_name: 'text', calendar: Buffer.from('full moon') })
    const loaded = await tables.run(tables.calendars.load(['good', 'lunar', 'text']))
    expect(loaded.get('good')).toEqual(weekly)
    for (const name of ['lunar', 'text']) {
      expect(loaded.get(name)).toMatchObject({
        name: 'JobPersistenceError',
        code: 'ERR_BROKEN_ROW',
        message: expect.stringContaining(`Calendar '${name}'`) as string,
      })
    }
  })
})
