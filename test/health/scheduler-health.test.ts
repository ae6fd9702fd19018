import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type HealthRule,
  jobKey,
  noFiringLaterThan,
  ramJobStore,
  schedulerHealth,
  successWithin,
  zeroSizeThreadPool,
} from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'

const hourMs = 3_600_000

/** A SQLite file that several processes could open, one after the other. */
function databaseFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-health-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  return join(folder, 'jobs.db')
}

const codesOf = ({ reasons }: { readonly reasons: readonly { readonly code: string }[] }): string[] =>
  reasons.map(({ code }) => code)

describe('ready', () => {
  it('follows the life of the scheduler', async () => {
    const { clock, scheduler } = await shellRig([])
    const health = schedulerHealth(scheduler, { clock, maxAgeMs: 0 })
    expect(await health.ready()).toEqual({ isOk: true, reasons: [] })
    await scheduler.standby()
    expect(codesOf(await health.ready())).toEqual(['notStarted'])
    expect(health.live().isOk).toBe(true)
    await scheduler.start()
    health.beginStop()
    expect(codesOf(await health.ready())).toEqual(['stopping'])
    expect(health.live().isOk).toBe(true)
    await scheduler.shutdown()
    expect(codesOf(await health.ready())).toEqual(['shutDown'])
    expect(codesOf(health.live())).toEqual(['shutDown'])
  })

  it('says that the store fails, or does not answer, and asks it once for many askers', async () => {
    const { clock, scheduler, store } = await shellRig([])
    onTestFinished(() => scheduler.shutdown())
    const health = schedulerHealth(scheduler, { clock })
    await Promise.all(Array.from({ length: 100 }, () => health.ready()))
    expect(store.callsOf('getCalendarNames')).toBe(1)
    store.failOn({ operation: 'getCalendarNames', error: new Error('away') })
    await clock.advance(1000)
    expect(await health.ready()).toEqual({
      isOk: false,
      reasons: [{ code: 'storeUnavailable', message: 'The job store does not answer: away' }],
    })
    await clock.advance(1000)
    expect((await health.ready()).isOk).toBe(true)
    store.getCalendarNames = () => new Promise(() => {})
    await clock.advance(1000)
    const asked = health.ready()
    await clock.advance(2000)
    expect(codesOf(await asked)).toEqual(['storeUnavailable'])
  })

  it('says that no end of an execution can be written, and not that those of one job cannot', async () => {
    const { clock, scheduler, store } = await shellRig([jobOf(() => {})])
    onTestFinished(() => scheduler.shutdown())
    const health = schedulerHealth(scheduler, { clock, maxAgeMs: 0 })
    const write = store.triggeredJobsComplete.bind(store)
    store.triggeredJobsComplete = (locked) => Promise.resolve({ locked: [...locked], passedOver: [] })
    const sinceText = new Date(clock.now()).toISOString()
    await scheduler.scheduleJob(detailOf('job'), firing(clock.now()))
    await clock.advance(10_000)
    expect(codesOf(await health.ready())).toEqual([])
    const other = detailOf('job', (builder) => builder.withIdentity('other'))
    await scheduler.scheduleJob(other, firing(clock.now()).getTriggerBuilder().withIdentity('other').build())
    await clock.advance(0)
    expect((await health.ready()).reasons).toEqual([
      {
        code: 'notEnding',
        message: `The node has tried in vain to write the ends of executions since ${sinceText}.`,
      },
    ])
    expect(health.live().isOk).toBe(true)
    store.triggeredJobsComplete = write
    await clock.advance(250)
    expect((await health.ready()).isOk).toBe(true)
  })

  it('asks a store and a rule that hang once, until they answer or a minute is over', async () => {
    const { clock, scheduler, store } = await shellRig([])
    onTestFinished(() => scheduler.shutdown())
    let checks = 0
    let answer: (reason: null) => void = () => {}
    const hanging: HealthRule = {
      name: 'hanging',
      check: () => {
        checks++
        return new Promise((resolve) => {
          answer = resolve
        })
      },
    }
    const health = schedulerHealth(scheduler, { clock, maxAgeMs: 0, rules: [hanging] })
    let asked = 0
    const answered = store.getCalendarNames.bind(store)
    store.getCalendarNames = () => {
      asked++
      return new Promise(() => {})
    }
    const look = async (): Promise<string[]> => {
      const reports = Promise.all([health.ready(), health.rules()])
      await clock.advance(2000)
      return (await reports).flatMap(codesOf)
    }
    for (let time = 0; time < 25; time++) expect(await look()).toEqual(['storeUnavailable', 'ruleFailed'])
    expect([asked, checks]).toEqual([1, 1])
    answer(null)
    await clock.advance(10_000)
    expect(await look()).toEqual(['storeUnavailable', 'ruleFailed'])
    expect([asked, checks]).toEqual([2, 2])
    store.getCalendarNames = answered
    await clock.advance(60_000)
    expect((await health.ready()).isOk).toBe(true)
  })

  it.each(['fired_triggers', 'scheduler_state'])(
    'says that the store takes no change of %s',
    async (table) => {
      const filename = databaseFile()
      const clock = new ManualClock()
      let runs = 0
      const job = jobOf(() => {
        runs++
      })
      const { scheduler } = await shellRig([job], { clock, jobStore: sqliteJobStore({ filename }) })
      onTestFinished(() => scheduler.shutdown())
      const health = schedulerHealth(scheduler, { clock, maxAgeMs: 0 })
      const database = new Database(filename)
      onTestFinished(() => {
        database.close()
      })
      const onChange = (name: string, change: string): void => {
        database.exec(
          `CREATE TRIGGER ${name} BEFORE ${change} ON qrtz_${table} ` +
            "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
        )
      }
      onChange('no_insert', 'INSERT')
      onChange('no_update', 'UPDATE')
      const checkInMs = 6000
      if (table === 'fired_triggers') await scheduler.scheduleJob(detailOf(job), firing(clock.now() + 1000))
      await clock.advance(checkInMs)
      const code = table === 'fired_triggers' ? 'notFiring' : 'notCheckingIn'
      expect(codesOf(await health.ready())).toEqual([code])
      expect(health.live().isOk).toBe(true)
      await clock.advance(60_000)
      expect([codesOf(await health.ready()), runs]).toEqual([[code], 0])
      database.exec('DROP TRIGGER no_insert; DROP TRIGGER no_update')
      await clock.advance(20_000)
      await scheduler.idle()
      expect(await health.ready()).toEqual({ isOk: true, reasons: [] })
      expect(runs).toBe(table === 'fired_triggers' ? 1 : 0)
    },
  )

  it('does not count a trigger that alone cannot be fired', async () => {
    const job = jobOf(() => {})
    const { clock, scheduler, store } = await shellRig([job])
    onTestFinished(() => scheduler.shutdown())
    const health = schedulerHealth(scheduler, { clock, maxAgeMs: 0 })
    store.acquireAndFire = undefined as never
    store.triggersFired = async (claims) =>
      claims.map(() => ({ kind: 'failed', error: new Error('no') }) as const)
    await scheduler.scheduleJob(
      detailOf(job, (detail) => detail.storeDurably()),
      firing(clock.now() + 1000),
    )
    await clock.advance(2000)
    expect((await health.ready()).isOk).toBe(true)
  })

  it('needs no start where a scheduler only looks at the data of others', async () => {
    const { clock, scheduler } = await shellRig([], { threadPool: zeroSizeThreadPool() })
    onTestFinished(() => scheduler.shutdown())
    expect((await schedulerHealth(scheduler, { clock }).ready()).isOk).toBe(true)
  })
})

describe('rules', () => {
  it('ask for a success in time, on what the store remembers', async () => {
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], {
      jobStore: sqliteJobStore({ filename: ':memory:' }),
    })
    onTestFinished(() => scheduler.shutdown())
    const rules = [successWithin(jobKey('job'), 60_000)]
    const health = schedulerHealth(scheduler, { clock, rules })
    expect((await health.rules()).isOk).toBe(true)
    await clock.advance(60_001)
    const { reasons } = await health.rules()
    expect(reasons[0]?.message).toMatch(/^Job DEFAULT\.job has not ended well for 60000 ms: it never has\.$/)
    expect(codesOf(await health.ready())).toEqual([])
    await scheduler.scheduleJob(
      detailOf('job', (job) => job.storeDurably()),
      firing(clock.now()),
    )
    await clock.advance(1000)
    await scheduler.idle()
    await clock.advance(1000)
    expect((await health.rules()).isOk).toBe(true)
    await clock.advance(60_001)
    expect((await health.rules()).reasons[0]?.message).toContain('it last did at 2026-01-01T00:01:')
    expect(startMs).toBeLessThan(clock.now())
  })

  it('count the time of a job that never ended well over starts of the process', async () => {
    const filename = databaseFile()
    const clock = new ManualClock(new Date('2026-01-01T02:59:59Z'))
    const rules = [successWithin(jobKey('job'), 26 * hourMs)]
    const told: boolean[] = []
    const broken = jobOf(() => {
      throw new Error('no disk')
    })
    for (let day = 0; day < 4; day++) {
      const jobStore = sqliteJobStore({ filename })
      const { scheduler } = await shellRig([broken], { clock, jobStore })
      const health = schedulerHealth(scheduler, { clock, rules })
      await scheduler.schedule(broken, { key: 'job', daily: '03:00', zone: 'UTC' })
      await clock.advance(2000)
      await scheduler.idle()
      told.push((await health.rules()).isOk)
      await scheduler.shutdown()
      await clock.advance(24 * hourMs - 2000)
    }
    // The first run was in the first day, which has been over for 26 hours at two o'clock of the third one.
    expect(told).toEqual([true, true, false, false])
  })

  it.each([
    ['in memory', () => ramJobStore({ jobStatus: false })],
    ['in a file', () => sqliteJobStore({ filename: ':memory:', jobStatus: false })],
  ])(
    'say that nothing is known of how jobs end where the store %s does not note it',
    async (_what, jobStore) => {
      const { clock, scheduler } = await shellRig([jobOf(() => {})], { jobStore: jobStore() })
      onTestFinished(() => scheduler.shutdown())
      expect(scheduler.getMetaData().jobStatusIsKept).toBe(false)
      const health = schedulerHealth(scheduler, { clock, rules: [successWithin(jobKey('job'), 60_000)] })
      expect((await health.rules()).reasons).toMatchObject([
        { code: 'ruleFailed', message: expect.stringContaining('`jobStatus: false`') as string },
      ])
    },
  )

  it('do not take the time by which the clock was set for one without a success', async () => {
    const { clock, scheduler } = await shellRig([jobOf(() => {})])
    onTestFinished(() => scheduler.shutdown())
    const health = schedulerHealth(scheduler, { clock, rules: [successWithin(jobKey('job'), hourMs)] })
    clock.jump(24 * hourMs)
    expect((await health.rules()).isOk).toBe(true)
    await clock.advance(hourMs + 1)
    expect((await health.rules()).isOk).toBe(false)
  })

  it.each([
    ['in memory', () => ramJobStore()],
    ['in a file', () => sqliteJobStore({ filename: ':memory:' })],
  ])('do not take a success of a clock that was ahead for one in time %s', async (_what, jobStore) => {
    let isBroken = false
    const job = jobOf(() => {
      if (isBroken) throw new Error('no disk')
    })
    const { clock, scheduler } = await shellRig([job], { jobStore: jobStore() })
    onTestFinished(() => scheduler.shutdown())
    const health = schedulerHealth(scheduler, { clock, rules: [successWithin(jobKey('job'), 60_000)] })
    const detail = detailOf('job', (builder) => builder.storeDurably())
    const runNow = async (): Promise<void> => {
      await scheduler.scheduleJob(detail, firing(clock.now()))
      await clock.advance(1000)
      await scheduler.idle()
      await clock.advance(1000)
    }
    clock.jump(24 * hourMs)
    await runNow()
    clock.jump(-24 * hourMs)
    expect((await health.rules()).isOk).toBe(true)
    await clock.advance(60_001)
    const [reason] = (await health.rules()).reasons
    expect(reason?.message).toMatch(/it last did at 2026-01-02T.*, by a clock that was ahead\.$/)
    isBroken = true
    await scheduler.deleteJob(jobKey('job'))
    await runNow()
    await clock.advance(24 * hourMs - 90_000)
    expect((await health.rules()).reasons[0]?.message).toContain('it last did at 2026-01-01T')
  })

  it('do not take a run that was vetoed for one of the job', async () => {
    const filename = databaseFile()
    const clock = new ManualClock(new Date('2026-01-01T02:00:00Z'))
    const open = () => shellRig([jobOf(() => {})], { clock, jobStore: sqliteJobStore({ filename }) })
    const first = await open()
    first.scheduler.listenerManager.addTriggerListener({ name: 'no', vetoJobExecution: () => true })
    await first.scheduler.scheduleJob(detailOf('job'), firing(clock.now()))
    await clock.advance(1000)
    await first.scheduler.idle()
    await first.scheduler.shutdown()
    await clock.advance(72 * hourMs)
    const { scheduler } = await open()
    onTestFinished(() => scheduler.shutdown())
    const rules = [successWithin(jobKey('job'), hourMs)]
    expect((await schedulerHealth(scheduler, { clock, rules }).rules()).isOk).toBe(true)
  })

  it('ask whether something waits past its time', async () => {
    const { clock, scheduler } = await shellRig([jobOf(() => {})])
    onTestFinished(() => scheduler.shutdown())
    const health = schedulerHealth(scheduler, { clock, rules: [noFiringLaterThan(300_000)] })
    await scheduler.standby()
    await scheduler.scheduleJob(detailOf('job'), firing(clock.now() + 1000))
    expect(await scheduler.getEarliestDueTime()).toBe(null)
    await clock.advance(301_000)
    expect((await health.rules()).isOk).toBe(true)
    await clock.advance(1000)
    expect(codesOf(await health.rules())).toEqual(['firingLate'])
    await scheduler.start()
    await clock.advance(1000)
    expect((await health.rules()).isOk).toBe(true)
  })

  it('that fail or hang are reasons, and the others are checked all the same', async () => {
    const { clock, scheduler } = await shellRig([])
    onTestFinished(() => scheduler.shutdown())
    const rules: HealthRule[] = [
      { name: 'throws', check: () => Promise.reject(new Error('no idea')) },
      { name: 'hangs', check: () => new Promise(() => {}) },
      { name: 'own', check: async () => ({ code: 'ruleFailed', message: 'the disk is full' }) },
      { name: 'well', check: async () => null },
      { name: 'silent', check: async () => undefined as never },
      { name: 'odd', check: async () => false as never },
    ]
    const asked = schedulerHealth(scheduler, { clock, rules }).rules()
    await clock.advance(2000)
    expect((await asked).reasons.map(({ message }) => message)).toEqual([
      "The rule 'throws' could not be checked: no idea",
      "The rule 'hangs' could not be checked: no answer within 2000 ms.",
      'the disk is full',
      "The rule 'odd' could not be checked: it answered false, no reason with code and message, and not null.",
    ])
  })
})

it('wrong options and arguments are refused', async () => {
  const { scheduler } = await shellRig([])
  onTestFinished(() => scheduler.shutdown())
  for (const options of [{ rules: [{}] }, { timeoutMs: 0 }, { maxAgeMs: -1 }, { other: 1 }]) {
    expect(() => schedulerHealth(scheduler, options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    )
  }
  expect(() => noFiringLaterThan(0)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
})
