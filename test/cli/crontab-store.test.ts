import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { FakeHost, temporaryFile } from './fake-host.ts'

const second = 1000
const minute = 60 * second
const startMs = Date.UTC(2026, 0, 1)

/** A crontab and its store, over several runs. */
class Runs {
  readonly folder = temporaryFolder()
  readonly store = join(this.folder, 'jobs.db')
  readonly path = join(this.folder, 'crontab')

  write(...lines: readonly string[]): void {
    writeFileSync(this.path, lines.map((line) => `${line}\n`).join(''))
  }

  async start(nowMs: number): Promise<Run> {
    const clock = new ManualClock(nowMs)
    const host = new FakeHost({ clock, environment: { PATH: process.env['PATH'] ?? '' } })
    const code = runCli(['crontab', this.path, '--zone', 'UTC', '--store', this.store], host)
    await host.stdout.until(/Jobs are kept in /)
    await clock.settle()
    return new Run(host, clock, code)
  }
}

class Run {
  readonly host: FakeHost
  readonly clock: ManualClock
  readonly #code: Promise<number>

  constructor(host: FakeHost, clock: ManualClock, code: Promise<number>) {
    this.host = host
    this.clock = clock
    this.#code = code
  }

  /** Ends as with Ctrl-C; answers everything that was printed. */
  async stop(): Promise<string> {
    this.host.send('SIGINT')
    expect(await this.#code).toBe(0)
    return this.host.stdout.text
  }
}

test('what was due while nothing ran runs late when it is not long ago, and the summary says so', async () => {
  const runs = new Runs()
  runs.write('* * * * * echo minute', '0 5 * * * echo five')
  const first = await runs.start(startMs)
  await first.clock.advance(minute)
  await first.host.stdout.until(/00:01:00 .*exit 0 +minute/)
  await first.stop()

  const later = await runs.start(startMs + 2 * minute + 20 * second)
  await later.clock.advance(second)
  await later.host.stdout.until(/echo minute +late 2\d(\.\d)? s .*exit 0/)
  const text = await later.stop()
  expect(text).toContain('1 job came due while nothing ran, since Thu 2026-01-01 00:02:00 +00:00.\n')
  expect(text).toMatch(
    /\n1 fire in .*, 1 job not due yet\ndue while nothing ran: 1 job made up for, 0 jobs skipped\n/,
  )
  // Late through nobody's fault.
  expect(text).toMatch(/^all +1 +0 +- +- +-$/m)
})

test('what was due longer ago than a minute is skipped, in one line instead of one for each', async () => {
  const runs = new Runs()
  runs.write('* * * * * echo minute', '*/5 * * * * echo five')
  await (await runs.start(startMs)).stop()

  const later = await runs.start(startMs + 60 * minute + 10 * second)
  await later.clock.advance(minute)
  await later.host.stdout.until(/01:01:00 .*exit 0 +minute/)
  const text = await later.stop()
  expect(text).toContain('2 jobs came due while nothing ran, since Thu 2026-01-01 00:01:00 +00:00.\n')
  expect(text).not.toContain('Missed ')
  expect(text).toContain('due while nothing ran: 0 jobs made up for, 2 jobs skipped\n')
})

test('lines that are gone are deleted, lines that moved are the same, @reboot runs at each start', async () => {
  const runs = new Runs()
  runs.write('@reboot echo up', '0 5 * * * echo gone', '0 6 * * * echo stays')
  await (await runs.start(startMs)).stop()
  runs.write('# a comment', '0 6 * * * echo stays', '0 7 * * * echo new', '@reboot echo up')

  const again = await runs.start(startMs + minute)
  await again.clock.advance(2 * second)
  await again.host.stdout.until(/exit 0 +up/)
  const text = await again.stop()
  expect(text).toContain('1 job of an earlier run deleted: not in the file any more.\n')
  const database = new Database(runs.store, { readonly: true })
  onTestFinished(() => {
    database.close()
  })
  const rows = database.prepare('SELECT description FROM qrtz_job_details ORDER BY description').pluck().all()
  expect(rows).toEqual(['0 6 * * * echo stays', '0 7 * * * echo new'])
})

test('a second run of the same crontab is refused, and takes nothing from the one that runs', async () => {
  const runs = new Runs()
  runs.write('* * * * * echo first')
  const first = await runs.start(startMs)
  runs.write('* * * * * echo second')
  const host = new FakeHost({ clock: first.clock })
  expect(await runCli(['crontab', runs.path, '--store', runs.store], host)).toBe(1)
  expect(host.stderr.text).toContain('is in use')
  await first.clock.advance(minute)
  await first.host.stdout.until(/00:01:00 .*exit 0 +first/)
  expect(await first.stop()).not.toContain('second')
})

test('several crontabs share a store, each with what is its own', async () => {
  const runs = new Runs()
  runs.write('0 5 * * * echo one')
  await (await runs.start(startMs)).stop()
  const host = new FakeHost({ clock: new ManualClock(startMs) })
  const other = join(runs.folder, 'other')
  writeFileSync(other, '0 6 * * * echo two\n')
  const code = runCli(['crontab', other, '--store', runs.store], host)
  await host.stdout.until(/Jobs are kept in /)
  host.send('SIGINT')
  expect(await code).toBe(0)
  expect(host.stdout.text).not.toContain('deleted')
})

test.each(['by its path', 'by its kind', 'by the settings'])(
  'a new store that is named %s is for its owner alone',
  async (named) => {
    const runs = new Runs()
    runs.write('0 5 * * * echo secret')
    const url = `sqlite:${runs.store}`
    const config = temporaryFile(
      'quartz-ts.config.mjs',
      `export default ${JSON.stringify({ jobStore: url })}\n`,
    )
    const args = { 'by its path': ['--store', runs.store], 'by its kind': ['--store', url] }[named]
    const host = new FakeHost({ clock: new ManualClock(startMs) })
    const code = runCli(['crontab', runs.path, ...(args ?? ['--config', config])], host)
    await host.stdout.until(/Jobs are kept in /)
    expect(statSync(runs.store).mode & 0o077).toBe(0)
    expect(readdirSync(runs.folder).filter((file) => !file.startsWith('jobs.db-'))).toEqual([
      'crontab',
      'jobs.db',
    ])
    expect(existsSync(url)).toBe(false)
    host.send('SIGINT')
    expect(await code).toBe(0)
  },
)

test('a store that was asked for and is no database ends the command: exit code 2', async () => {
  const runs = new Runs()
  runs.write('* * * * * date')
  writeFileSync(runs.store, 'this is no database, however long one looks at it\n'.repeat(100))
  const host = new FakeHost({ clock: new ManualClock(startMs) })
  expect(await runCli(['crontab', runs.path, '--store', runs.store], host)).toBe(2)
  expect(host.stderr.text).toMatch(/^quartz-ts: .*jobs\.db/)
  expect(readFileSync(runs.store, 'utf8')).toContain('no database')
  expect(await runCli(['crontab', runs.path, '--store', ' '], host)).toBe(2)
  expect(await runCli(['crontab', runs.path, '--store', 'sqlite:'], host)).toBe(2)
})
