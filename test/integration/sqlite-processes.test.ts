import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Misfire } from '../../src/jobstore/misfires.ts'

const script = fileURLToPath(new URL('../fixtures/sqlite/node.mjs', import.meta.url))

interface Answer {
  readonly id: number
  readonly error?: { readonly code: string; readonly message: string }
  readonly answer?: unknown
}

/** A process of its own that does what it is asked for. */
class SchedulerProcess {
  readonly child: ChildProcess
  #asked = 0

  private constructor(child: ChildProcess) {
    this.child = child
  }

  static async spawn(...args: readonly string[]): Promise<SchedulerProcess> {
    const child = fork(script, [...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    await once(child, 'message')
    return new SchedulerProcess(child)
  }

  async ask(action: string, parameters: object = {}): Promise<Answer> {
    const id = ++this.#asked
    const answered = new Promise<Answer>((resolve) => {
      const listen = (answer: Answer): void => {
        if (answer.id !== id) return
        this.child.off('message', listen)
        resolve(answer)
      }
      this.child.on('message', listen)
    })
    this.child.send({ id, action, ...parameters })
    return answered
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    this.child.kill('SIGKILL')
    await once(this.child, 'exit')
  }
}

let folder = ''
const processes: SchedulerProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quartz-ts-processes-'))
})
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.kill()))
  rmSync(folder, { recursive: true })
})

const file = (): string => join(folder, 'jobs.db')
async function spawn(instanceId: string, schedulerName = 'shared'): Promise<SchedulerProcess> {
  const started = await SchedulerProcess.spawn(file(), join(folder, 'journal'), instanceId, schedulerName)
  processes.push(started)
  return started
}

/** The runs that were noted so far, as `trigger instance`. */
function runs(): string[] {
  const path = join(folder, 'journal')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
}
const eventually = (assertion: () => void): Promise<void> =>
  vi.waitFor(assertion, { timeout: 60_000, interval: 20 })
const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`)

/** Stops a process, as one that is stopped within a transaction locks everybody out; its check-in looks an hour old. */
async function stopOutsideTransaction(
  { child }: SchedulerProcess,
  { inAnotherContainer = false } = {},
): Promise<void> {
  const database = new Database(file(), { timeout: 100 })
  const hidden = `, node_info = json_set(node_info, '$.space', 'another container')`
  const change = `last_checkin_time = last_checkin_time - 3600000${inAnotherContainer ? hidden : ''}`
  await eventually(() => {
    child.kill('SIGSTOP')
    try {
      database.exec(`UPDATE qrtz_scheduler_state SET ${change}`)
    } catch (error) {
      child.kill('SIGCONT')
      throw error
    }
  })
  database.close()
}

describe('two processes on one SQLite file', () => {
  test('a second scheduler is refused while the first lives, and takes over when that was killed', async () => {
    const [first, second] = [await spawn('first'), await spawn('second')]
    expect(await first.ask('start')).not.toHaveProperty('error')
    const { error } = await second.ask('start')
    expect(error?.code).toBe('ERR_STORE_IN_USE')
    expect(error?.message).toContain(`the scheduler instance 'first' (process ${String(first.child.pid)} on `)
    await first.ask('schedule', { names: ['a'] })
    await eventually(() => {
      expect(runs()).toEqual(['a first'])
    })

    await first.kill()
    expect(await second.ask('start')).not.toHaveProperty('error')
    await second.ask('schedule', { names: ['b'] })
    await eventually(() => {
      expect(runs()).toEqual(['a first', 'b second'])
    })
  })

  test('what a killed process was running is run again by the next one, if it asks for that', async () => {
    const [first, second] = [await spawn('first'), await spawn('second')]
    await first.ask('start')
    await first.ask('schedule', { names: ['endless'], job: 'endless' })
    await first.ask('schedule', { names: ['often'], everyMs: 50 })
    await eventually(() => {
      expect(runs()).toEqual(expect.arrayContaining(['endless first', 'often first']))
    })
    await first.kill()
    const before = runs().length
    expect(await second.ask('start')).not.toHaveProperty('error')
    await eventually(() => {
      const after = runs().slice(before)
      expect(after).toContain('often second')
      expect(after.filter((run) => /^recover_first_.* second$/.test(run))).toHaveLength(1)
    })
  })

  test('what a killed process was running is remembered as lost, if it does not ask to run again', async () => {
    const [first, second] = [await spawn('first'), await spawn('second')]
    await first.ask('start')
    const earliestMs = Date.now()
    await first.ask('schedule', { names: ['gone'], job: 'endless', recovers: false })
    await eventually(() => {
      expect(runs()).toEqual(['gone first'])
    })
    await first.kill()
    expect(await second.ask('start')).not.toHaveProperty('error')
    const remembered = async (): Promise<void> => {
      const lost = {
        triggerKey: 'gone',
        jobKey: 'gone',
        cause: 'lost',
        policy: null,
        count: 1,
        node: 'second',
      }
      const { answer } = await second.ask('misfires')
      expect(answer).toMatchObject([lost])
      const [{ fromMs, toMs, noticedTimeMs } = { fromMs: 0, toMs: 0, noticedTimeMs: 0 }] =
        answer as readonly Misfire[]
      expect(fromMs).toBe(toMs)
      expect(fromMs).toBeGreaterThanOrEqual(earliestMs)
      expect(noticedTimeMs).toBeGreaterThan(fromMs)
    }
    await vi.waitFor(remembered, { timeout: 60_000, interval: 50 })
    expect(runs()).toEqual(['gone first'])
    // It is in the file, for whoever comes next.
    await second.kill()
    const third = await spawn('third')
    expect(await third.ask('start')).not.toHaveProperty('error')
    expect((await third.ask('misfires')).answer).toMatchObject([{ triggerKey: 'gone', cause: 'lost' }])
  })

  test('one that stands still is not taken over, and goes on', async () => {
    const [first, second] = [await spawn('first'), await spawn('second')]
    await first.ask('start')
    await stopOutsideTransaction(first)
    expect((await second.ask('start')).error?.code).toBe('ERR_STORE_IN_USE')
    first.child.kill('SIGCONT')
    await second.ask('schedule', { names: ['a'] })
    await eventually(() => {
      expect(runs()).toEqual(['a first'])
    })
  })

  test('one that stands still where it cannot be seen is taken over, and writes nothing when it goes on', async () => {
    const [first, second] = [await spawn('first'), await spawn('second')]
    await first.ask('start')
    await first.ask('schedule', { names: names('often', 5), everyMs: 20 })
    await first.ask('schedule', { names: ['endless'], job: 'endless' })
    await eventually(() => {
      expect(runs().length).toBeGreaterThan(20)
      expect(runs()).toContain('endless first')
    })
    await stopOutsideTransaction(first, { inAnotherContainer: true })
    expect(await second.ask('start')).not.toHaveProperty('error')
    const before = runs().length
    first.child.kill('SIGCONT')
    await eventually(() => {
      expect(runs().length).toBeGreaterThan(before + 50)
    })
    // What was fired before it was stopped may still have been on its way.
    const ofFirst = runs()
      .slice(before)
      .filter((run) => run.endsWith(' first'))
    expect(ofFirst.length).toBeLessThanOrEqual(10)
    const { answer } = await first.ask('told')
    expect(answer).toEqual(expect.arrayContaining(['recovered by a peer', 'ERR_STORE_IN_USE']))
    expect(await first.ask('shutdown')).not.toHaveProperty('error')

    const database = new Database(file(), { timeout: 1000 })
    const left = "SELECT count(*) FROM qrtz_fired_triggers WHERE instance_name = 'first'"
    expect(database.prepare(left).pluck().all()).toEqual([0])
    const holders = 'SELECT instance_name FROM qrtz_scheduler_state'
    expect(database.prepare(holders).pluck().all()).toEqual(['second'])
    database.close()
    // All of them go on.
    const seen = runs().length
    await eventually(() => {
      for (const name of names('often', 5)) expect(runs().slice(seen)).toContain(`${name} second`)
    })
  }, 120_000)

  test('one that was shut down makes room at once', async () => {
    const [first, second] = [await spawn('first'), await spawn('second')]
    await first.ask('start')
    await first.ask('shutdown')
    expect(await second.ask('start')).not.toHaveProperty('error')
  })

  test('others schedule at the same time as it fires, and every job runs once, soon', async () => {
    const [first, ...others] = await Promise.all(['first', 'b', 'c', 'd'].map((id) => spawn(id)))
    await first?.ask('start')
    const answers = await Promise.all(
      others.map((other, index) => other.ask('schedule', { names: names(`n${index}-`, 50) })),
    )
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([])
    await eventually(() => {
      expect(runs().length).toBeGreaterThanOrEqual(150)
    })
    expect(new Set(runs()).size).toBe(150)
    expect(runs()).toHaveLength(150)
  })

  test('schedulers of different names fire from one file, each its own', async () => {
    const [one, two] = [await spawn('x', 'one'), await spawn('y', 'two')]
    await Promise.all([one.ask('start'), two.ask('start')])
    await Promise.all([
      one.ask('schedule', { names: names('a', 20) }),
      two.ask('schedule', { names: names('b', 20) }),
    ])
    await eventually(() => {
      expect(runs().length).toBeGreaterThanOrEqual(40)
    })
    const expected = [
      ...names('a', 20).map((name) => `${name} x`),
      ...names('b', 20).map((name) => `${name} y`),
    ]
    expect(runs().toSorted()).toEqual(expected.toSorted())
  })
})
