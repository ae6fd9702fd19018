import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
  triggerKey,
} from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

interface OfJava {
  readonly name: string
  readonly dueMs: number
  readonly expression?: string
}

/** Stores a trigger as Java does, which sends no signal. */
async function store(database: TestDatabase, { name, dueMs, expression }: OfJava): Promise<void> {
  const schedule =
    expression === undefined
      ? `INSERT INTO beside.qrtz_simple_triggers SELECT sched_name, $1, 'java', 0, 0, 0`
      : `INSERT INTO beside.qrtz_cron_triggers SELECT sched_name, $1, 'java', '${expression}', 'GMT+02:00'`
  await database.query(
    `WITH stored AS (
       INSERT INTO beside.qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group,
         next_fire_time, prev_fire_time, priority, trigger_state, trigger_type, start_time, end_time, misfire_instr)
       SELECT sched_name, $1, 'java', job_name, job_group, ${dueMs}, -1, 5, 'WAITING',
         '${expression === undefined ? 'SIMPLE' : 'CRON'}', ${dueMs}, 0, 0 FROM beside.qrtz_job_details
       RETURNING sched_name)
     ${schedule} FROM stored`,
    [name],
  )
}

test('what Java commits after its instant fires at once beside a trigger that this node cannot read', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { connectionString } = database
  const jobStore = postgresJobStore({ connectionString, schema: 'beside', locking: 'quartzLocks' })
  const ran = new Map<string, number>()
  const work = defineJob('work', ({ triggerKey: { name } }) => ran.set(name, Date.now()))
  const scheduler = await createScheduler({ logger: false, jobs: [work], idleWaitMs: 1000, jobStore })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.addJob(JobBuilder.newJob(work).withIdentity('work').storeDurably().build())
  // Searches all the time.
  const often = SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(50).repeatForever()
  await scheduler.scheduleJob(
    TriggerBuilder.newTrigger().withIdentity('often').forJob('work').withSchedule(often).build(),
  )
  await store(database, { name: 'unread', dueMs: Date.now() - 3_600_000, expression: '0 0 12 * * ?' })
  const reported = scheduler.events.next('schedulerError')
  await scheduler.start()
  expect((await reported).error.message).toContain('is left to Java nodes')

  const delays: number[] = []
  for (const name of ['one', 'two', 'three']) {
    const dueMs = Date.now()
    await vi.waitUntil(() => (ran.get('often') ?? 0) > dueMs + 100, { timeout: 10_000 })
    await store(database, { name, dueMs })
    const storedMs = Date.now()
    await vi.waitUntil(() => ran.has(name), { timeout: 10_000 })
    delays.push((ran.get(name) ?? 0) - storedMs)
  }
  expect(Math.max(...delays)).toBeLessThan(2000)
  expect(await scheduler.getTriggerState(triggerKey('unread', 'java'))).toBe('NORMAL')
})
