import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JobStoreContext } from '../../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../../src/jobstore/ram/ram-job-store.ts'
import type { SqlRunner } from '../../../src/jobstore/sql/kernel/sql-runner.ts'
import { all, run } from '../../../src/jobstore/sql/kernel/statement.ts'
import { migrate } from '../../../src/jobstore/sql/migrations/migrate.ts'
import { LeasedRunner } from '../../../src/jobstore/sqlite/leased-runner.ts'
import { fateOf, ownIdentity, type ProcessIdentity } from '../../../src/jobstore/sqlite/process-identity.ts'
import { SchedulerLease } from '../../../src/jobstore/sqlite/scheduler-lease.ts'
import type { SqliteRunner } from '../../../src/jobstore/sqlite/sqlite-runner.ts'
import { Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { sqliteRunner, sqliteWords } from '../../support/sqlite.ts'

const { names, dialect } = sqliteWords
const startMs = 1_790_000_000_000

/** Its process may have stood still, while monotonic time went on. */
class StandingClock extends ManualClock {
  stoodMs = 0
  override elapsedMs(): number {
    return super.elapsedMs() + this.stoodMs
  }
}

type WatchedRunner = SqlRunner & Pick<SqliteRunner, 'connections'>

/** A database and as many schedulers of one name on it as are wanted, on one clock. */
class World {
  readonly clock = new StandingClock(startMs)
  readonly runner: SqliteRunner
  fails = false

  constructor(runner: SqliteRunner) {
    this.runner = runner
  }

  static async open(): Promise<World> {
    const runner = await sqliteRunner(':memory:')
    await migrate(runner, sqliteWords, startMs)
    return new World(runner)
  }

  /** A runner that fails while `fails` is set, as when another connection has the file locked. */
  failingRunner(): WatchedRunner {
    return {
      connections: 1,
      transact: (begin) =>
        this.fails ? Promise.reject(new Error('database is locked')) : this.runner.transact(begin),
      read: (begin) => this.runner.read(begin),
      close: () => Promise.resolve(),
    }
  }

  scheduler(
    instanceId: string,
    runner: WatchedRunner = this.runner,
  ): { lease: SchedulerLease; bed: Testbed } {
    const bed = new Testbed(new RAMJobStore(), this.clock, instanceId)
    const context: JobStoreContext = {
      ...bed.context,
      ids: { ...bed.context.ids, uniqueName: () => `boot of ${instanceId} ${randomUUID()}` },
    }
    const vocabulary = { dialect, names, schedulerName: 'conformance' }
    return { lease: new SchedulerLease(runner, vocabulary, context, 'a.db'), bed }
  }

  /** The row of a scheduler that is not part of this test's process. */
  async hold(identity: ProcessIdentity | null, checkinMs: number): Promise<void> {
    const info = identity === null ? 'null' : `'${JSON.stringify(identity)}'`
    await this.execute(
      `INSERT INTO ${names.schedulerState}
        (sched_name, instance_name, last_checkin_time, checkin_interval, boot_id, node_info)
        VALUES ('conformance', 'other', ${checkinMs}, 5000, 'boot of other', ${info})`,
    )
  }

  async execute(text: string): Promise<number> {
    return this.runner.transact(() => run({ text, values: [] }))
  }

  async holders(): Promise<unknown[]> {
    const text = `SELECT instance_name FROM ${names.schedulerState} ORDER BY 1`
    return (await this.runner.read(() => all({ text, values: [] }))).map((row) => row['instance_name'])
  }
}

const onLinux = test.skipIf(process.platform !== 'linux') // reason: only Linux tells when a process began

const inUse = { name: 'JobPersistenceError', code: 'ERR_STORE_IN_USE' }
const elsewhere: ProcessIdentity = { ...ownIdentity(), space: 'another container', pid: 1 }

function endedProcess(): ProcessIdentity {
  const { pid } = spawnSync(process.execPath, ['--version'])
  return { ...ownIdentity(), pid }
}

/** The one that runs the tests, which is alive and is not this one. */
function livingProcess(): ProcessIdentity {
  const pid = process.ppid
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return { ...ownIdentity(), pid, started: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null }
}

describe('a process', () => {
  test('is alive, gone, or cannot be seen', () => {
    expect(fateOf(ownIdentity())).toBe(process.platform === 'linux' ? 'alive' : 'unknown')
    expect(fateOf(endedProcess())).toBe('gone')
    expect(fateOf({ ...endedProcess(), space: 'another' })).toBe('unknown')
  })

  onLinux('whose number went to another one is gone', () => {
    expect(fateOf({ ...ownIdentity(), started: '1' })).toBe('gone')
  })
})

describe('the lease of a scheduler on a file', () => {
  test('is taken, kept by check-ins and given back', async () => {
    const world = await World.open()
    const { lease } = world.scheduler('one')
    await lease.take()
    expect(await world.holders()).toEqual(['one'])
    await world.clock.advance(60_000)
    const text = `SELECT last_checkin_time AS ms FROM ${names.schedulerState}`
    expect(await world.runner.read(() => all({ text, values: [] }))).toEqual([{ ms: startMs + 60_000 }])
    await lease.release()
    await lease.release()
    expect(await world.holders()).toEqual([])
  })

  test('that cannot be kept is told of once, until it was kept again', async () => {
    const world = await World.open()
    const { lease, bed } = world.scheduler('one')
    await lease.take()
    const told: string[] = []
    for (let time = 0; time < 2; time++) {
      await world.execute(`ALTER TABLE ${names.schedulerState} RENAME TO hidden`)
      await world.clock.advance(60_000)
      await world.execute(`ALTER TABLE hidden RENAME TO ${names.schedulerState}`)
      await world.clock.advance(6_000)
      told.push('failed', 'restored')
      expect(bed.signals.checkIns.map(({ kind }) => kind)).toEqual(told)
    }
    await lease.release()
  })

  test('that is given back while a check-in waits for a lock is not checked in any more', async () => {
    const world = await World.open()
    let lock: Promise<void> = Promise.resolve()
    const waiting: WatchedRunner = {
      connections: 1,
      transact: async (begin) => {
        await lock
        return world.runner.transact(begin)
      },
      read: (begin) => world.runner.read(begin),
      close: () => world.runner.close(),
    }
    const { lease } = world.scheduler('one', waiting)
    await lease.take()
    let unlock = (): void => {}
    lock = new Promise((resolve) => {
      unlock = resolve
    })
    await world.clock.advance(5000)
    const released = lease.release()
    unlock()
    await released
    expect(await world.holders()).toEqual([])
    expect(world.clock.timerCount).toBe(0)
  })

  onLinux('is refused while its holder lives, however long that was silent', async () => {
    const world = await World.open()
    const holder = livingProcess()
    await world.hold(holder, startMs - 3_600_000)
    const { pid, host } = holder
    await expect(world.scheduler('one').lease.take()).rejects.toMatchObject({
      ...inUse,
      message: expect.stringContaining(
        `the scheduler instance 'other' (process ${pid} on ${host})`,
      ) as string,
    })
    expect(await world.holders()).toEqual(['other'])
  })

  onLinux('that a copy of the file carries is refused with what to do about the copy', async () => {
    const world = await World.open()
    await world.hold(livingProcess(), startMs)
    await expect(world.scheduler('one').lease.take()).rejects.toMatchObject({
      ...inUse,
      message: expect.stringContaining(
        `A copy of a file that is in use carries this row too: delete it from the table ${names.schedulerState} of ` +
          'the copy.',
      ) as string,
    })
    await world.execute(`DELETE FROM ${names.schedulerState}`)
    await world.scheduler('one').lease.take()
    expect(await world.holders()).toEqual(['one'])
  })

  test('is refused at once while another scheduler of this thread has it', async () => {
    const world = await World.open()
    const { lease } = world.scheduler('one')
    await lease.take()
    await expect(world.scheduler('two').lease.take()).rejects.toMatchObject({
      ...inUse,
      message: expect.stringMatching(
        /\(process \d+ on .*, this one\) .* as soon as that scheduler, or the thread in which it runs, has ended/,
      ) as string,
    })
    await lease.release()
  })

  test('is refused as soon as a scheduler of another thread is heard of', async () => {
    const world = await World.open()
    await world.hold(ownIdentity(), startMs)
    const refused = expect(world.scheduler('one').lease.take()).rejects.toMatchObject(inUse)
    await world.clock.advance(2_000)
    await world.execute(`UPDATE ${names.schedulerState} SET last_checkin_time = ${startMs + 2000}`)
    await world.clock.advance(2_000)
    await refused
    expect(await world.holders()).toEqual(['other'])
  })

  test('is taken over at once from a process that has ended', async () => {
    const world = await World.open()
    await world.hold(endedProcess(), startMs)
    await world.scheduler('one').lease.take()
    expect(await world.holders()).toEqual(['one'])
  })

  test.each([
    ['in another container', elsewhere],
    ['of another release', null],
    ['in another thread of this process', ownIdentity()],
  ])('is taken over from a holder %s once that was silent for long enough', async (_where, identity) => {
    const world = await World.open()
    await world.hold(identity, startMs - 3_600_000)
    const taking = world.scheduler('one').lease.take()
    await world.clock.advance(19_000)
    expect(await world.holders()).toEqual(['other'])
    await world.clock.advance(3_000)
    await taking
    expect(await world.holders()).toEqual(['one'])
  })

  test.each([3_600_000, -3_600_000])('is not taken over as a clock steps by %d ms', async (stepMs) => {
    const world = await World.open()
    await world.hold(elsewhere, startMs)
    const taking = world.scheduler('one').lease.take()
    const refused = expect(taking).rejects.toMatchObject(inUse)
    await world.clock.advance(2_000)
    world.clock.jump(stepMs)
    await world.clock.advance(10_000)
    expect(await world.holders()).toEqual(['other'])
    await world.execute(`UPDATE ${names.schedulerState} SET last_checkin_time = ${startMs + 12_000}`)
    await world.clock.advance(2_000)
    await refused
  })

  test('is not taken over by one that itself stood still instead of watching', async () => {
    const world = await World.open()
    await world.hold(elsewhere, startMs)
    const { lease } = world.scheduler('one')
    const taking = lease.take()
    const refused = expect(taking).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
    await world.clock.advance(2_000)
    world.clock.stoodMs = 3_600_000
    await world.clock.advance(5_000)
    expect(await world.holders()).toEqual(['other'])
    lease.cutOff()
    await refused
  })

  test('is refused as soon as a holder in another container is heard of', async () => {
    const world = await World.open()
    await world.hold(elsewhere, startMs - 10_000)
    const taking = world.scheduler('one').lease.take()
    const refused = expect(taking).rejects.toMatchObject(inUse)
    await world.clock.advance(2_000)
    await world.execute(`UPDATE ${names.schedulerState} SET last_checkin_time = ${startMs}`)
    await world.clock.advance(2_000)
    await refused
    expect(await world.holders()).toEqual(['other'])
  })

  test('of a holder with a clock in the future is taken over all the same', async () => {
    const world = await World.open()
    await world.hold(elsewhere, startMs + 3_600_000)
    const taking = world.scheduler('one').lease.take()
    await world.clock.advance(22_000)
    await taking
    expect(await world.holders()).toEqual(['one'])
  })

  test.each(['at its check-in', 'by a write'])(
    'that was taken over stops its former holder, which learns so %s',
    async (when) => {
      const world = await World.open()
      const { lease, bed } = world.scheduler('one')
      const runner = new LeasedRunner(world.runner, lease)
      await lease.take()
      await world.execute(`UPDATE ${names.schedulerState} SET boot_id = 'another'`)
      if (when === 'at its check-in') await world.clock.advance(6_000)
      else {
        // It writes before it looks: the transaction finds out, and leaves nothing.
        const text = 'CREATE TABLE not_ours (id)'
        const early = runner.transact(() => run({ text, values: [] }), { lock: 'rows' })
        await expect(early).rejects.toMatchObject(inUse)
        await world.execute(text)
        await world.clock.advance(6_000)
      }
      expect(bed.signals.recoveriesByPeers).toBe(1)
      expect(bed.signals.errors).toHaveLength(1)
      const writing = runner.transact(() => run({ text: 'SELECT 1', values: [] }), { lock: 'rows' })
      await expect(writing).rejects.toMatchObject(inUse)
      expect(await runner.read(() => all({ text: 'SELECT 1 AS one', values: [] }))).toEqual([{ one: 1 }])
      await lease.release()
      expect(await world.holders()).toEqual(['one'])
    },
  )

  test('that was taken over is proven by a transaction that waited meanwhile', async () => {
    const world = await World.open()
    const { lease, bed } = world.scheduler('one')
    let unlock = (): void => {}
    const unlocked = new Promise<void>((resolve) => {
      unlock = resolve
    })
    // Another connection has the file locked.
    const waiting: WatchedRunner = {
      connections: 1,
      transact: (begin) => unlocked.then(() => world.runner.transact(begin)),
      read: (begin) => world.runner.read(begin),
      close: () => Promise.resolve(),
    }
    await lease.take()
    const text = 'CREATE TABLE not_ours (id)'
    const late = new LeasedRunner(waiting, lease).transact(() => run({ text, values: [] }), { lock: 'rows' })
    const refused = expect(late).rejects.toMatchObject(inUse)
    await world.execute(`UPDATE ${names.schedulerState} SET boot_id = 'another'`)
    await world.clock.advance(6_000)
    expect(lease.refusal).toMatchObject(inUse)
    unlock()
    await refused
    expect(bed.signals.recoveriesByPeers).toBe(1)
    await world.execute(text)
  })

  test('that was given back is not written under by a transaction that waited meanwhile', async () => {
    const world = await World.open()
    const { lease, bed } = world.scheduler('one')
    const runner = new LeasedRunner(world.runner, lease)
    await lease.take()
    await lease.release()
    const late = runner.transact(() => run({ text: 'SELECT 1', values: [] }), { lock: 'rows' })
    await expect(late).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
    expect(bed.signals.recoveriesByPeers).toBe(0)
  })

  test('that two hold ends for the one that sees it first', async () => {
    const world = await World.open()
    const { lease, bed } = world.scheduler('one')
    await lease.take()
    await world.hold(elsewhere, startMs)
    await world.clock.advance(6_000)
    expect(lease.refusal).toMatchObject(inUse)
    expect(bed.signals.recoveriesByPeers).toBe(1)
    expect(await world.holders()).toEqual(['other'])
  })

  test('is given back at once by a shutdown that cannot wait', async () => {
    const world = await World.open()
    const { lease } = world.scheduler('one')
    await lease.take()
    lease.cutOff()
    await lease.release()
    expect(await world.holders()).toEqual([])
    await world.clock.advance(60_000)
    expect(world.clock.timerCount).toBe(0)
  })

  test.each(['cut off', 'released'])(
    'that could not be deleted when it was %s is taken over at once in the same process',
    async (how) => {
      const world = await World.open()
      const { lease } = world.scheduler('one', world.failingRunner())
      await lease.take()
      world.fails = true
      if (how === 'cut off') lease.cutOff()
      else await expect(lease.release()).rejects.toThrow('database is locked')
      expect(await world.holders()).toEqual(['one'])
      await world.scheduler('two').lease.take()
      expect(await world.holders()).toEqual(['two'])
    },
  )

  onLinux('that was not given up is refused to another scheduler of the same process', async () => {
    const world = await World.open()
    const { lease } = world.scheduler('one', world.failingRunner())
    await lease.take()
    world.fails = true
    lease.cutOff()
    const { lease: firing } = world.scheduler('two')
    await firing.take()
    await expect(world.scheduler('three').lease.take()).rejects.toMatchObject(inUse)
    expect(await world.holders()).toEqual(['two'])
    await firing.release()
  })

  test('survives check-ins that fail', async () => {
    const world = await World.open()
    const { lease, bed } = world.scheduler('one')
    await lease.take()
    await world.execute(`ALTER TABLE ${names.schedulerState} RENAME TO away`)
    await world.clock.advance(6_000)
    expect(bed.signals.checkIns.map(({ kind }) => kind)).toEqual(['failed'])
    await world.execute(`ALTER TABLE away RENAME TO ${names.schedulerState}`)
    await world.clock.advance(6_000)
    expect(bed.signals.checkIns.map(({ kind }) => kind)).toEqual(['failed', 'restored'])
    expect(bed.signals.errors).toEqual([])
    expect(lease.refusal).toBeNull()
    await lease.release()
  })
})
