import {
  createScheduler,
  defineJob,
  defineSchedule,
  JobBuilder,
  type JobDetail,
  JobKey,
  type Scheduler,
  type SchedulerTransaction,
  type Trigger,
  TriggerBuilder,
  TriggerKey,
} from 'quartz-ts'
import type { JobStore } from 'quartz-ts/spi'
import { describe, expect, onTestFinished, test } from 'vitest'

/** A connection of the user's own, with a table `orders (id)` beside the store's. */
export interface UserConnection {
  readonly handle: object
  readonly run: (statement: string) => Promise<void>
  readonly orders: () => Promise<number>
}

/** One database of one test. */
export interface TransactionScene {
  readonly newStore: () => JobStore
  readonly connect: () => Promise<UserConnection>
  /** Begins a transaction that may write. */
  readonly begin: string
}

export interface Node {
  readonly scheduler: Scheduler
  /** Names of jobs that ran. */
  readonly ran: string[]
  /** Resolves when a job of this name has run. */
  readonly hasRun: (name: string) => Promise<void>
}

/** The scheduler looks by itself only after an hour: what fires at once was woken. */
export async function openNode(
  jobStore: JobStore,
  instanceId = 'node-1',
  schedulerName = 'QuartzScheduler',
): Promise<Node> {
  const ran: string[] = []
  const waiting = new Map<string, () => void>()
  const note = defineJob('note', ({ jobKey }) => {
    ran.push(jobKey.name)
    waiting.get(jobKey.name)?.()
  })
  const scheduler = await createScheduler({
    jobStore,
    schedulerName,
    instanceId,
    jobs: [note],
    idleWaitMs: 3_600_000,
    logger: false,
  })
  onTestFinished(() => scheduler.shutdown())
  return {
    scheduler,
    ran,
    hasRun: (name) =>
      ran.includes(name) ? Promise.resolve() : new Promise((resolve) => waiting.set(name, resolve)),
  }
}

export const note = (name: string): JobDetail =>
  JobBuilder.newJob('note').withIdentity(name).storeDurably().build()
export const now = (name: string): Trigger => TriggerBuilder.newTrigger().withIdentity(name).build()

interface SetUp extends Node {
  readonly scene: TransactionScene
  readonly user: UserConnection
  readonly tx: SchedulerTransaction
}

async function setUp(prepare: () => Promise<TransactionScene>): Promise<SetUp> {
  const scene = await prepare()
  const node = await openNode(scene.newStore())
  const user = await scene.connect()
  return { ...node, scene, user, tx: node.scheduler.withTransaction(user.handle) }
}

const order = "INSERT INTO orders (id) VALUES ('one')"

/** What both engines have to do about transactions of the user's own. */
export function transactionCases(engine: string, prepare: () => Promise<TransactionScene>): void {
  describe(`scheduling in a transaction of the user on ${engine}`, () => {
    test('happens when it is committed, and wakes the scheduler then', async () => {
      const { scheduler, user, tx, ran, hasRun, scene } = await setUp(prepare)
      await scheduler.start()
      await user.run(scene.begin)
      await user.run(order)
      await expect(tx.scheduleJob(note('a'), now('a'))).resolves.toBeInstanceOf(Date)
      await expect(tx.checkExists(new JobKey('a'))).resolves.toBe(true)
      await expect(tx.getTriggerState(new TriggerKey('a'))).resolves.toBe('NORMAL')
      expect(ran).toEqual([])
      await user.run('COMMIT')
      await hasRun('a')
      await expect(user.orders()).resolves.toBe(1)
    })

    test('is heard of by idle, however soon after the commit', async () => {
      const { scheduler, user, tx, ran, scene } = await setUp(prepare)
      await scheduler.start()
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        await scheduler.idle()
        await user.run(scene.begin)
        await tx.schedule('note', { in: 0, key: name })
        await user.run('COMMIT')
        await scheduler.idle()
        expect(ran).toContain(name)
      }
    })

    test('leaves nothing when it is rolled back', async () => {
      const { scheduler, user, tx, scene } = await setUp(prepare)
      await scheduler.addJob(note('kept'))
      await user.run(scene.begin)
      await user.run(order)
      await tx.scheduleJobs([{ job: note('a'), triggers: [now('a')] }])
      await tx.addJob(note('b'))
      await tx.triggerJob(new JobKey('kept'))
      await expect(tx.deleteJob(new JobKey('kept'))).resolves.toBe(true)
      await user.run('ROLLBACK')
      await expect(user.orders()).resolves.toBe(0)
      await expect(scheduler.checkExists(new JobKey('a'))).resolves.toBe(false)
      await expect(scheduler.checkExists(new JobKey('b'))).resolves.toBe(false)
      await expect(scheduler.getTriggersOfJob(new JobKey('kept'))).resolves.toEqual([])
    })

    test('changes and deletes what is there', async () => {
      const { scheduler, user, tx, scene } = await setUp(prepare)
      await scheduler.scheduleJob(note('a'), [now('a1'), now('a2')])
      await user.run(scene.begin)
      const later = TriggerBuilder.newTrigger().withIdentity('later').startAt(new Date(4e12)).build()
      await expect(tx.rescheduleJob(new TriggerKey('a1'), later)).resolves.toEqual(new Date(4e12))
      await expect(tx.unscheduleJob(new TriggerKey('a2'))).resolves.toBe(true)
      await user.run('COMMIT')
      const triggers = await scheduler.getTriggersOfJob(new JobKey('a'))
      expect(triggers.map(({ key }) => key.name)).toEqual(['later'])
    })
    shortFormCases(prepare)
    refusalCases(prepare)
  })
}

function shortFormCases(prepare: () => Promise<TransactionScene>): void {
  test('takes the short form, which wakes the scheduler at the commit', async () => {
    const { scheduler, user, tx, ran, hasRun, scene } = await setUp(prepare)
    await scheduler.start()
    await user.run(scene.begin)
    await user.run(order)
    await expect(tx.schedule('note', { in: 0, key: 'once' })).resolves.toMatchObject({ change: 'added' })
    await tx.schedule('note', { cron: '0 0 7 * * ?', zone: 'UTC', key: 'cron', data: { n: 1 } })
    await tx.schedule('note', { daily: '07:00', zone: 'UTC', key: 'daily' })
    await tx.schedule('note', { every: '1h', startAt: new Date(4e12), key: 'every' })
    const { key } = await tx.schedule('note', { at: new Date(4e12) })
    await expect(tx.schedule('note', { daily: '07:00', zone: 'UTC', key: 'daily' })).resolves.toMatchObject({
      change: 'unchanged',
    })
    await expect(tx.schedule('note', { daily: '08:00', zone: 'UTC', key: 'daily' })).resolves.toMatchObject({
      change: 'changed',
    })
    expect(ran).toEqual([])
    await user.run('COMMIT')
    await hasRun('once')
    expect((await scheduler.getTrigger(new TriggerKey('daily')))?.nextFireTime?.getUTCHours()).toBe(8)
    expect((await scheduler.getTrigger(new TriggerKey('every')))?.nextFireTime).toEqual(new Date(4e12))
    expect((await scheduler.getJobDetail(new JobKey('cron')))?.jobDataMap).toEqual({ n: 1 })
    const [once] = await scheduler.getTriggersOfJob(key)
    expect(once?.nextFireTime).toEqual(new Date(4e12))
  })

  test('takes back the short form when it is rolled back, also a change of what was there', async () => {
    const { scheduler, user, tx, ran, hasRun, scene } = await setUp(prepare)
    const weekly = { key: 'weekly', cron: '0 0 7 ? * MON', zone: 'UTC' }
    await scheduler.schedule('note', weekly)
    const before = await scheduler.getTrigger(new TriggerKey('weekly'))
    await scheduler.start()
    await user.run(scene.begin)
    await user.run(order)
    await tx.schedule('note', { ...weekly, cron: '0 0 9 ? * TUE' })
    await tx.schedule('note', { in: 0, key: 'once' })
    await tx.runNow('weekly')
    await user.run('ROLLBACK')
    await expect(user.orders()).resolves.toBe(0)
    await expect(scheduler.checkExists(new JobKey('once'))).resolves.toBe(false)
    const triggers = await scheduler.getTriggersOfJob(new JobKey('weekly'))
    expect(triggers.map(({ nextFireTimeMs }) => nextFireTimeMs)).toEqual([before?.nextFireTimeMs])
    await expect(scheduler.schedule('note', weekly)).resolves.toMatchObject({ change: 'unchanged' })
    await scheduler.runNow('weekly')
    await hasRun('weekly')
    expect(ran).toEqual(['weekly'])
  })

  test('refuses a short form without breaking the transaction', async () => {
    const { scheduler, user, tx, scene } = await setUp(prepare)
    await scheduler.reconcile('set', [
      defineSchedule('note', { key: 'taken', every: '1h', startAt: new Date(4e12) }),
    ])
    await user.run(scene.begin)
    await expect(tx.schedule('note', { key: 'taken', in: '1h' })).rejects.toMatchObject({
      code: 'ERR_OBJECT_ALREADY_EXISTS',
    })
    await expect(tx.schedule('unknown', { in: '1h' })).rejects.toMatchObject({
      code: 'ERR_UNKNOWN_JOB_TYPE',
    })
    await tx.schedule('note', { key: 'other', in: '1h' })
    await user.run('COMMIT')
    await expect(scheduler.checkExists(new JobKey('other'))).resolves.toBe(true)
    await expect(tx.schedule('note', { in: '1h' })).rejects.toMatchObject({ code: 'ERR_NO_TRANSACTION' })
  })
}

function refusalCases(prepare: () => Promise<TransactionScene>): void {
  test('that is refused leaves nothing behind, and the transaction usable', async () => {
    const { scheduler, user, tx, scene } = await setUp(prepare)
    await scheduler.addJob(note('taken'))
    await user.run(scene.begin)
    await user.run(order)
    const entries = [
      { job: note('new'), triggers: [now('new')] },
      { job: note('taken'), triggers: [now('taken')] },
    ]
    await expect(tx.scheduleJobs(entries)).rejects.toMatchObject({ code: 'ERR_OBJECT_ALREADY_EXISTS' })
    await tx.addJob(note('other'))
    await user.run('COMMIT')
    await expect(user.orders()).resolves.toBe(1)
    await expect(scheduler.checkExists(new JobKey('new'))).resolves.toBe(false)
    await expect(scheduler.checkExists(new JobKey('other'))).resolves.toBe(true)
  })

  test('is refused outside of one', async () => {
    const { scheduler, user, tx, scene } = await setUp(prepare)
    await expect(tx.addJob(note('a'))).rejects.toMatchObject({ code: 'ERR_NO_TRANSACTION' })
    await expect(tx.getJobDetail(new JobKey('a'))).rejects.toMatchObject({ code: 'ERR_NO_TRANSACTION' })
    await user.run(scene.begin)
    await tx.addJob(note('a'))
    await user.run('COMMIT')
    await expect(tx.addJob(note('b'))).rejects.toMatchObject({ code: 'ERR_NO_TRANSACTION' })
    expect(() => scheduler.withTransaction({})).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field: 'handle' }),
    )
    await scheduler.shutdown()
    expect(() => scheduler.withTransaction(user.handle)).toThrow(
      expect.objectContaining({ code: 'ERR_SCHEDULER_SHUTDOWN' }),
    )
    await user.run(scene.begin)
    await expect(tx.addJob(note('b'))).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
  })
}
