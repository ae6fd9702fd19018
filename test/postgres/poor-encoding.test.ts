import pg from 'pg'
import {
  createScheduler,
  defineJob,
  type ExecutionDetails,
  GroupMatcher,
  HolidayCalendar,
  JobBuilder,
  type JobExecutionContext,
  type JobKey,
  jobKey,
  type Scheduler,
  type TriggerKey,
  triggerKey,
} from 'quartz-ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores('LATIN1')

const jobs = [
  defineJob('well', () => {}),
  defineJob('throwing', ({ mergedJobDataMap }: JobExecutionContext<{ text: string }>) => {
    throw new Error(mergedJobDataMap.text)
  }),
  defineJob(
    'alone',
    () => {
      throw new Error('Preis: 5 € – zu hoch')
    },
    { disallowConcurrentExecution: true },
  ),
  defineJob('telling', (context) => {
    context.progress({ at: '日本' })
    context.log.info({ what: '日本' }, 'für 日本')
    return { found: '日本 😀 "\\' }
  }),
]

async function open(): Promise<Scheduler> {
  const newStore = await stores.prepare()
  const scheduler = await createScheduler({
    jobStore: newStore({ history: { record: 'all' } }),
    jobs,
    logger: false,
  })
  onTestFinished(() => scheduler.shutdown())
  for (const { jobType } of jobs) {
    const job = JobBuilder.newJob(jobType).withIdentity(jobType).storeDurably().build()
    await scheduler.addJob(job)
  }
  return scheduler
}

/** What is remembered of the executions of a job once there are so many. */
async function runsOf(scheduler: Scheduler, job: string, count: number): Promise<ExecutionDetails[]> {
  const ids = await vi.waitFor(
    async () => {
      const { items } = await scheduler.queryExecutions({ jobKey: jobKey(job) })
      expect(items).toHaveLength(count)
      return items.map(({ fireInstanceId }) => fireInstanceId)
    },
    { timeout: 20_000, interval: 20 },
  )
  const found = await Promise.all(ids.map((id) => scheduler.getExecution(id)))
  return found.filter((each) => each !== null)
}

/** The keys of all pages of a list. */
async function pagesOf<Key>(
  page: (after: Key | undefined) => Promise<{ items: readonly { key: Key }[]; next: Key | null }>,
): Promise<Key[]> {
  const found: Key[] = []
  for (let after: Key | undefined | null; after !== null; ) {
    const { items, next } = await page(after)
    found.push(...items.map(({ key }) => key))
    after = next
  }
  return found
}

describe('what a job leaves with characters that the encoding lacks', () => {
  test('is an error with escapes, which stops neither its job nor others', async () => {
    const scheduler = await open()
    const texts = ['kaputt für 日本', 'für', 'Löschen 😀', 'ASCII']
    for (const text of texts) await scheduler.triggerJob('throwing', { text })
    for (let run = 0; run < 3; run++) for (const job of ['alone', 'well']) await scheduler.triggerJob(job)
    await scheduler.start()
    const [errors, alone] = await Promise.all([
      runsOf(scheduler, 'throwing', 4),
      runsOf(scheduler, 'alone', 3),
    ])
    expect(errors.map(({ errorText }) => errorText).toSorted()).toEqual(
      ['ASCII', 'Löschen \\ud83d\\ude00', 'für', 'kaputt für \\u65e5\\u672c'].map(
        (text) => `Job DEFAULT.throwing threw: ${text}`,
      ),
    )
    expect(alone.map(({ errorText }) => errorText)).toEqual(
      Array(3).fill('Job DEFAULT.alone threw: Preis: 5 \\u20ac \\u2013 zu hoch'),
    )
    await runsOf(scheduler, 'well', 3)
  })

  test('is progress, a result and a log, of which nothing is lost', async () => {
    const scheduler = await open()
    await scheduler.start()
    await scheduler.triggerJob('telling')
    const [run] = await runsOf(scheduler, 'telling', 1)
    const { progressText, resultText, fireInstanceId } = run ?? {}
    const read = [progressText, resultText].map((text): unknown => JSON.parse(text ?? ''))
    expect(read).toEqual([{ at: '日本' }, { found: '日本 😀 "\\' }])
    const log = await scheduler.queryExecutionLog(fireInstanceId ?? '')
    expect(log.items).toMatchObject([{ message: 'für 日本' }])
  })
})

describe('what is stored with characters that the encoding lacks', () => {
  test('is job data and calendars as they are', async () => {
    const scheduler = await open()
    const jobData = { 日本: '日本 😀 "\\ für' }
    await scheduler.schedule('well', { key: 'data', in: '1h', data: jobData })
    expect((await scheduler.getJobDetail('data'))?.jobDataMap).toEqual(jobData)
    const calendar = new HolidayCalendar({ excludedDates: [], description: '日本' })
    await scheduler.addCalendar('holidays', calendar)
    expect((await scheduler.getCalendar('holidays'))?.description).toBe('日本')
    const client = new pg.Client(stores.connection())
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('BEGIN')
    await scheduler.withTransaction(client).schedule('well', { key: 'joined', in: '1h', data: jobData })
    await client.query('COMMIT')
    expect((await scheduler.getJobDetail('joined'))?.jobDataMap).toEqual(jobData)
  })

  test('is refused where it must be read as it is, naming the field and the encoding', async () => {
    const scheduler = await open()
    const refused = (field: string): object => ({
      code: 'ERR_INVALID_ARGUMENT',
      field,
      message: expect.stringContaining(
        `'${field}' holds '日', which the database's encoding LATIN1 does not have`,
      ) as string,
    })
    const newJob = (name: string, group?: string): JobBuilder =>
      JobBuilder.newJob('well').withIdentity(name, group).storeDurably()
    await expect(scheduler.schedule('well', { key: '日', in: '1h' })).rejects.toMatchObject(refused('name'))
    await expect(scheduler.addJob(newJob('a', 'für 日').build())).rejects.toMatchObject(refused('group'))
    const described = newJob('a').withDescription('日').build()
    await expect(scheduler.addJob(described)).rejects.toMatchObject(refused('description'))
    await expect(
      scheduler.addCalendar('日', new HolidayCalendar({ excludedDates: [] })),
    ).rejects.toMatchObject(refused('name'))
    await expect(scheduler.pauseJobs(GroupMatcher.groupEquals('日'))).rejects.toMatchObject(refused('group'))
    await scheduler.addJob(newJob('für').build())
    expect(await scheduler.checkExists(jobKey('für'))).toBe(true)
  })

  test('is the reason of a pause with escapes', async () => {
    const scheduler = await open()
    await scheduler.schedule('well', { key: 'a', in: '1h' })
    await scheduler.pauseTrigger('a', { reason: 'für 日本', by: '本' })
    const { items } = await scheduler.queryTriggers({ name: 'a' })
    expect(items[0]?.pause).toMatchObject({ reason: 'für \\u65e5\\u672c', by: '\\u672c' })
  })
})

test('what the encoding lacks is looked for and found nowhere', async () => {
  const scheduler = await open()
  const odd = '日本'
  const pages = [
    scheduler.queryJobs({ jobType: odd }),
    scheduler.queryJobs({ search: odd }),
    scheduler.queryJobs({ jobGroups: [odd] }),
    scheduler.queryTriggers({ name: odd }),
    scheduler.queryExecutions({ jobKey: jobKey(odd), errorContains: odd, data: { key: odd, value: odd } }),
  ]
  expect(await Promise.all(pages)).toEqual(pages.map(() => ({ items: [], next: null })))
  const groups = { jobGroups: ['DEFAULT', 'für', odd] }
  await scheduler.schedule('well', { key: jobKey('a', 'für'), in: '1h' })
  expect((await scheduler.queryTriggers(groups)).items.map(({ key }) => key.toString())).toEqual(['für.a'])
  await expect(scheduler.getTriggerState(triggerKey(odd))).resolves.toBe('NONE')
  await expect(scheduler.getExecution(odd)).resolves.toBeNull()
})

test('lists of jobs and triggers have all groups in order, page by page', async () => {
  const scheduler = await open()
  const groups = ['DEFAULT', 'DEFAULT.', 'A', 'z', 'ü']
  for (const group of groups) {
    for (const name of ['a', 'ÿ']) await scheduler.schedule('well', { key: jobKey(name, group), in: '1h' })
  }
  const inOrder = ['DEFAULT', 'A', 'DEFAULT.', 'z', 'ü'].flatMap((group) => [`${group}.a`, `${group}.ÿ`])
  const isListed = ({ name }: { name: string }): boolean => ['a', 'ÿ'].includes(name)
  const jobKeys = await pagesOf((after: JobKey | undefined) =>
    scheduler.queryJobs({ take: 3, ...(after !== undefined && { after }) }),
  )
  expect(jobKeys.filter(isListed).map(String)).toEqual(inOrder)
  const triggerKeys = await pagesOf((after: TriggerKey | undefined) =>
    scheduler.queryTriggers({ take: 3, ...(after !== undefined && { after }) }),
  )
  expect(triggerKeys.filter(isListed).map(String)).toEqual(inOrder)
})
