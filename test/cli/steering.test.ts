import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { routes } from '../../src/cli/api/routes.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { formatKey } from '../../src/cli/steering/keys.ts'
import { type Column, Table } from '../../src/cli/terminal/table.ts'
import { triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'
import { systemClock } from '../../src/time/clock.ts'
import { addPlainJob, filledScheduler, serverFixture, tokens } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { FakeHost, FakeOutput, runNow as run, temporaryFile } from './fake-host.ts'

interface Place {
  readonly scheduler: Scheduler
  /** Runs a command on this place. */
  readonly run: (...args: readonly string[]) => ReturnType<typeof run>
  /** Where the commands say that data has changed: what has no server of its own is data of others. */
  readonly where: string
}

/** A SQLite file that a scheduler of this process has, too. */
async function storePlace(): Promise<Place> {
  const file = join(temporaryFolder(), 'jobs.db')
  const scheduler = await filledScheduler({
    jobStore: sqliteJobStore({ filename: file, history: { record: 'all' } }),
  })
  onTestFinished(() => scheduler.shutdown())
  return {
    scheduler,
    run: (...args) => run([...args, '--store', `sqlite:${file}`]),
    where: 'in the cluster',
  }
}

async function serverPlace(): Promise<Place> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const environment = { QUARTZ_TS_TOKEN: tokens.admin }
  return {
    scheduler: fixture.scheduler,
    run: (...args) => run([...args, '--server', fixture.address], environment),
    where: `on ${fixture.scheduler.schedulerInstanceId}`,
  }
}

const stateOf = async ({ scheduler }: Place, group: string): Promise<readonly string[]> => {
  const { items } = await scheduler.queryTriggers()
  return items.filter(({ key }) => key.group === group).map(({ state }) => state)
}

test('the routes are those of the catalogue', () => {
  for (const [id, route] of Object.entries(routes)) {
    const operation = catalogue.find((each) => each.id === id)
    const { method, path, isServerWide = false } = operation ?? {}
    expect([id, { isServerWide: false, ...route }]).toEqual([id, { method, path, isServerWide }])
  }
})

describe.each([
  ['a SQLite file', storePlace],
  ['a server', serverPlace],
])('on %s', (_where, open) => {
  test('jobs are listed, filtered, and shown with their triggers', async () => {
    const { run } = await open()
    const all = await run('jobs')
    expect(all).toMatchObject({ code: 0, err: '' })
    expect(all.out.split('\n').map((line) => line.split(/\s+/)[0])).toEqual([
      'JOB',
      'mail/daytime',
      'mail/hourly',
      'mail/monthly',
      'reports/daily',
      '',
    ])
    expect((await run('jobs', '--search', 'HOURLY')).out).toMatch(/^JOB.*\nmail\/hourly +echo +durable/)
    expect((await run('jobs', '--group', 'nothing')).out).toBe('No jobs.\n')
    const one = await run('jobs', 'reports/daily', '--zone', 'Europe/Paris')
    expect(one.out).toMatch(/^job +reports\/daily\ntype +echo\n/)
    expect(one.out).toContain('"apiKey":"***"')
    expect(one.out).toMatch(/reports\/daily +NORMAL +2199-01-01 07:00:00 +At 07:00, Monday through Friday/)
    expect((await run('jobs', 'daily', '--group', 'reports', '--json')).out).toContain('"triggers": [')
    expect(await run('jobs', 'reports/dayly')).toEqual({
      code: 3,
      out: '',
      err: "quartz-ts: There is no job 'reports/dayly'.\n",
    })
    // As an alert or an error has just written the key.
    expect((await run('jobs', 'reports.daily')).err).toBe(
      "quartz-ts: There is no job 'DEFAULT/reports.daily'. " +
        "A key is GROUP/NAME: write 'reports/daily' if that is meant.\n",
    )
  })

  test('lists are read a page at a time', async () => {
    const { run } = await open()
    const first = await run('triggers', '--take', '3')
    expect(first.out.split('\n')).toHaveLength(5)
    const [, cursor = ''] = /^There are more: --all, or --after (\S+)\n$/.exec(first.err) ?? []
    expect((await run('triggers', '--after', cursor)).out).toMatch(/^TRIGGER.*\nreports\/daily .*\n$/)
    const json = await run('triggers', '--all', '--json')
    expect(JSON.parse(json.out)).toMatchObject({ items: { length: 4 }, next: null })
    const one = JSON.parse((await run('triggers', '--take', '1', '--json')).out) as { next: string }
    expect(one.next).toMatch(/^\S+$/)
    expect((await run('triggers', '--job', 'mail/hourly', '--json')).out).toContain('"type":"simple"')
    expect((await run('triggers', '--state', 'PAUSED')).out).toBe('No triggers.\n')
  })

  test('a trigger is shown with its next fire times', async () => {
    const { run } = await open()
    const { out } = await run('triggers', 'reports/daily', '--count', '2', '--zone', 'UTC')
    expect(out).toMatch(/expression +0 0 7 \? \* MON-FRI \(Europe\/Paris\)\nin words +At 07:00/)
    // Of a trigger that missed fires the number is not that of its executions.
    expect(out).toMatch(/fired or missed +0 times\n/)
    expect(out).toContain('Next fire times in UTC:\n  Tue 2199-01-01 06:00:00 +00:00\n  Wed 2199-01-02')
  })

  test('the audit says who did what, and is filtered', async () => {
    const place = await open()
    const { run } = place
    await run('pause', 'job', 'mail/hourly', '--reason', 'a move')
    await run('run', 'job', 'reports/nothing')
    await place.scheduler.idle()
    const all = await run('audit', '--zone', 'UTC')
    expect(all.out).toMatch(/^TIME \(UTC\) .* WHO .* OPERATION +TARGET +OUTCOME +TIMES/)
    expect(all.out).toMatch(/jobs\.run +reports\/nothing +failed +1 .*ERR_JOB_NOT_FOUND/)
    const done = JSON.parse(
      (await run('audit', '--outcome', 'done', '--name', 'hourly', '--json')).out,
    ) as object
    expect(done).toMatchObject({ items: [{ operation: 'jobs.pause', requestText: '{"reason":"a move"}' }] })
    expect((await run('audit', '--by', 'nobody')).out).toBe('No entries.\n')
    expect(await run('audit', '--outcome', 'lost')).toMatchObject({ code: 2 })
  })

  test('a trigger skips its next fire time, and is not reset where it is not in error', async () => {
    const { run } = await open()
    const dry = await run('skip', 'reports/daily', '--dry-run', '--zone', 'UTC')
    expect(dry.out).toBe(
      'trigger reports/daily: would be told to skip 2199-01-01 06:00:00 and to fire at 2199-01-02 06:00:00 (UTC)\n',
    )
    expect((await run('skip', 'reports/daily', '--zone', 'UTC')).out).toMatch(/told to skip 2199-01-01/)
    expect((await run('triggers', 'reports/daily', '--count', '1', '--zone', 'UTC')).out).toContain(
      '2199-01-02',
    )
    expect((await run('reset-error', 'reports/daily')).out).toBe('trigger reports/daily: is not in error\n')
    expect(await run('reset-error', 'reports/none')).toMatchObject({ code: 3 })
    expect(await run('skip')).toMatchObject({ code: 2, err: /'skip' needs one KEY/ })
  })

  test('jobs say how they are doing, and an execution what it logged', async () => {
    const place = await open()
    const { run, scheduler } = place
    expect((await run('status')).out).toBe('No job has run yet.\n')
    scheduler.registerJobs([
      defineJob('talker', ({ log }) => {
        log.info({ sent: 3 }, 'mail is out')
        log.warn({ left: 1 }, 'one is left')
      }),
    ])
    const talker = await addPlainJob(scheduler, 'talker', 'talker', 'mail')
    const bad = await addPlainJob(scheduler, 'failing', 'bad', 'mail')
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.start()
    await scheduler.triggerJob(talker)
    const { fireInstanceId } = (await ended).context
    await scheduler.triggerJob(bad)
    await scheduler.idle()
    const status = await run('status', '--zone', 'UTC')
    expect(status.out).toMatch(
      /^JOB +LAST RUN \(UTC\) .*\nmail\/bad .* failed .* 1 +.*it broke.*\nmail\/talker .* succeeded/,
    )
    expect((await run('status', '--failing')).out).not.toContain('talker')
    const one = await run('status', 'mail/bad')
    expect(one.out).toMatch(/failures in a row +1\n[^]*DAY \(UTC\) .*\n\d{4}-\d\d-\d\d +0 +1 /)
    expect(await run('status', 'mail/none')).toMatchObject({ code: 3 })
    const log = await run('log', fireInstanceId, '--zone', 'UTC')
    expect(log.out).toMatch(/ INFO +mail is out \{"sent":3\}\n.* WARN +one is left \{"left":1\}\n$/)
    expect(JSON.parse((await run('log', fireInstanceId, '--json')).out.split('\n')[1] ?? '')).toMatchObject({
      line: 2,
      level: 'warn',
    })
  })

  test('a job, a trigger and a group are paused and resumed', async () => {
    const place = await open()
    const { run, where } = place
    expect((await run('pause', 'job', 'mail/hourly', '--dry-run')).out).toBe(
      'job mail/hourly: would be paused\n',
    )
    expect(await stateOf(place, 'mail')).toEqual(['NORMAL', 'NORMAL', 'NORMAL'])
    expect((await run('pause', 'job', 'mail/hourly')).out).toBe(`job mail/hourly: paused ${where}\n`)
    for (const more of [['--dry-run'], []]) {
      const needless = await run('resume', 'trigger', 'mail/monthly', ...more)
      expect(needless.out).toBe('trigger mail/monthly: was not paused\n')
      const ofJob = await run('resume', 'job', 'mail/monthly', ...more)
      expect(ofJob.out).toBe('job mail/monthly: was not paused\n')
    }
    expect(await stateOf(place, 'mail')).toEqual(['NORMAL', 'PAUSED', 'NORMAL'])
    expect((await run('resume', 'trigger', 'hourly', '--group', 'mail')).code).toBe(0)

    const lone = formatKey(await addPlainJob(place.scheduler, 'echo', 'lone', 'others'))
    for (const more of [['--dry-run'], []]) {
      const nothing = await run('pause', 'job', lone, '--reason', 'a move', ...more)
      expect(nothing).toMatchObject({ code: 0, out: `job ${lone}: has no trigger that can be paused\n` })
    }

    const refused = await run('pause', 'job-group', 'mail')
    expect(refused).toMatchObject({
      code: 2,
      out: '',
      err: /all jobs of the group 'mail'. Nothing was done: add --yes/,
    })
    expect((await run('pause', 'trigger-group', 'mail', '--yes')).code).toBe(0)
    expect(await stateOf(place, 'mail')).toEqual(['PAUSED', 'PAUSED', 'PAUSED'])
    expect((await run('resume', 'all', '--yes', '--json')).out).toContain('"changed": true')
    expect(await stateOf(place, 'mail')).toEqual(['NORMAL', 'NORMAL', 'NORMAL'])
    expect((await run('resume', 'trigger', 'mail/nothing')).code).toBe(3)
  })

  test('a pause has a reason and an end, and a resume may leave out what was missed', async () => {
    const { run } = await open()
    const [reason, until] = ['the mail server moves', '2199-06-01T00:00:00Z']
    expect((await run('pause', 'job', 'mail/hourly', '--reason', reason, '--until', until)).code).toBe(0)
    const shown = await run('triggers', 'mail/hourly', '--zone', 'UTC')
    expect(shown.out).toMatch(
      /^paused +the mail server moves, by .*, since .*, until Sat 2199-06-01 00:00:00/m,
    )
    const many = ['pause', 'jobs', '--search', 'daytime', '--reason', 'as well', '--until', '2h']
    expect((await run(...many)).out).toBe('1 job paused\n')
    for (const list of [['triggers'], ['jobs', 'mail/daytime']])
      expect((await run(...list)).out).toMatch(/mail\/daytime .*  as well, by /)
    expect((await run('triggers', 'mail/daytime')).out).toMatch(/^paused +as well, .* until /m)
    expect((await run('resume', 'all', '--yes', '--without-missed')).code).toBe(0)
    expect((await run('triggers', 'mail/hourly')).out).not.toMatch(/^paused/m)
    expect(await run('pause', 'job', 'mail/hourly', '--until', 'soon')).toMatchObject({
      code: 2,
      err: /--until takes a duration such as 2h, an instant with its offset such as 2026-/,
    })
  })

  test('many are counted first', async () => {
    const place = await open()
    const { run } = place
    const dry = await run('pause', 'triggers', '--group', 'mail', '--dry-run')
    expect(dry.out).toBe('3 triggers would be paused:\n  mail/daytime\n  mail/hourly\n  mail/monthly\n')
    expect(await run('pause', 'triggers', '--group', 'mail')).toMatchObject({
      code: 2,
      err: /changes 3 triggers/,
    })
    expect(await stateOf(place, 'mail')).toEqual(['NORMAL', 'NORMAL', 'NORMAL'])
    expect((await run('pause', 'triggers', '--group', 'mail', '--yes')).out).toBe('3 triggers paused\n')
    expect(await stateOf(place, 'mail')).toEqual(['PAUSED', 'PAUSED', 'PAUSED'])
    expect((await run('resume', 'jobs', '--search', 'daytime')).out).toBe('1 job resumed\n')
    expect(await run('pause', 'jobs', '--group', 'none', '--yes')).toMatchObject({
      code: 3,
      err: /No jobs fit/,
    })
    const json = JSON.parse((await run('run', 'jobs', '--group', 'mail', '--yes', '--json')).out) as object
    expect(json).toMatchObject({ status: 'done', total: 3, failed: 0 })
  })

  test('a run that waits for what is paused is no run that was begun', async () => {
    const { run, scheduler } = await open()
    await scheduler.pauseJobs(GroupMatcher.groupEquals('mail'))
    const told = await run('run', 'job', 'mail/hourly')
    const paused = 'the group of the job, the trigger group DEFAULT or everything is paused.'
    const [, key] = /by trigger (\S+),/.exec(told.out) ?? []
    expect(told.out).toContain(`\nIt waits: ${paused} 'quartz-ts resume trigger ${key}' lets it run.\n`)
    const dry = await run('run', 'trigger', 'mail/hourly', '--dry-run')
    expect(dry.out).toContain(`\nIt would wait: ${paused} Resume that first.\n`)
    const many = await run('run', 'jobs', '--group', 'mail', '--dry-run')
    expect(many.out).toContain(`\n3 would wait: ${paused}`)
    const done = await run('run', 'jobs', '--group', 'mail', '--yes')
    expect(done.out).toBe(`3 jobs run\n3 wait: ${paused} Resume that to let them run.\n`)
    expect(JSON.parse((await run('run', 'job', 'mail/hourly', '--json')).out)).toMatchObject({
      result: { paused: true },
    })
    const state = await scheduler.getTriggerState(key?.replace(/^DEFAULT\//, '') ?? '')
    expect(state).toBe('PAUSED')
  })

  test('a job is run with other data, and what it did is in the history', async () => {
    const { run, scheduler, where } = await open()
    const failing = await addPlainJob(scheduler, 'failing', 'bad', 'mail')
    await scheduler.start()
    const told = await run('run', 'job', 'reports/daily', '--data', '{"to":"me"}')
    expect(told.out).toMatch(new RegExp(`^job reports/daily: told to run, by trigger \\S+/\\S+, ${where}\n$`))
    await run('run', 'trigger', 'mail/hourly')
    await run('run', 'job', 'mail/bad')
    expect(failing.group).toBe('mail')
    await scheduler.idle()
    expect((await run('history', 'job:reports/daily', 'outcome:succeeded', '--json')).out).toMatch(
      /"outcome":"succ/,
    )
    expect((await run('history', 'outcome:failed')).out).toMatch(/mail\/bad .* failed .* it broke/)
    expect(await run('history', '--after', 'junk')).toMatchObject({
      code: 2,
      err: /'after' must be the 'next'/,
    })
    expect(await run('history', 'outcome:odd')).toMatchObject({ code: 2, err: /the outcome 'odd'/ })
    expect((await run('history', '--from', '2190-01-01')).out).toBe('No executions.\n')
  })

  test('what was missed is listed with its cause', async () => {
    const { run, scheduler } = await open()
    expect((await run('misfires')).out).toBe('No misfires.\n')
    await scheduler.start()
    await scheduler.skipNextFire(triggerKey('hourly', 'mail'))
    await scheduler.idle()
    expect((await run('misfires', 'trigger:mail/hourly')).out).toMatch(/mail\/hourly .* skippedByHand /)
    expect((await run('misfires', 'cause:lost')).out).toBe('No misfires.\n')
    expect(await run('misfires', 'cause:odd')).toMatchObject({ code: 2, err: /the cause 'odd'/ })
  })

  test('a dump is printed', async () => {
    const { run } = await open()
    const dump = JSON.parse((await run('dump')).out) as object
    expect(dump).toMatchObject({ calendars: ['holidays'], pausedJobGroups: [] })
  })

  test('definitions go out to a file and come back', async () => {
    const { run } = await open()
    const file = join(temporaryFolder(), 'all.json')
    writeFileSync(file, 'others may read this')
    expect((await run('export', '--out', file, '--secrets')).err).toBe(`Written to ${file}.\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toContain('hunter2')
    expect((await run('import', file)).out).toBe('added 0, changed 0, removed 0; 9 the same\n')
    const masked = await run('export')
    expect(masked.out).toContain('"apiKey": "***"')
    expect(masked.out).not.toContain('k-123')
  })

  test('import shows what differs and asks for --yes', async () => {
    const { run, scheduler } = await open()
    const file = temporaryFile('all.json', (await run('export', '--secrets')).out)
    const [job] = (await scheduler.queryJobs()).items
    if (job !== undefined) await scheduler.deleteJob(job.key)
    await scheduler.deleteCalendar('holidays')
    const refused = await run('import', file)
    expect(refused).toMatchObject({ code: 2, err: /changes 3 definitions/ })
    expect(refused.out).toBe('+ calendar holidays\n+ job mail/daytime\n+ trigger mail/daytime\n')
    const dry = await run('import', file, '--dry-run')
    expect(dry.out).toMatch(/\nwould be added 3, changed 0, removed 0; 6 the same\n$/)
    const imported = await run('import', file, '--yes')
    expect(imported.err).toBe('')
    expect(imported.out).toMatch(/\nadded 3, changed 0, removed 0; 6 the same\n$/)
    expect(await scheduler.getCalendarNames()).toEqual(['holidays'])
    await addPlainJob(scheduler, 'echo', 'extra', 'mail')
    expect((await run('import', file, '--remove')).out).toContain('- job mail/extra\n')
    expect((await scheduler.queryJobs()).items).toHaveLength(4)
  })
})

const foreignFilters = [
  ['job', 'group-match search job-type state calendar'],
  ['trigger', 'group-match search job-type state calendar'],
  ['jobs', 'state calendar'],
  ['triggers', ''],
  ['job-group', 'group group-match search job-type state calendar'],
  ['trigger-group', 'group group-match search job-type state calendar'],
  ['all', 'group group-match search job-type state calendar'],
] as const

describe.each(['pause', 'resume', 'run'])('%s', (verb) => {
  const kinds = foreignFilters.filter(([kind]) => verb !== 'run' || !/group|all/.test(kind))
  test.each(kinds)('%s refuses filters that it would not heed', async (kind, filters) => {
    const key = /^(job|trigger)/.test(kind) && !kind.endsWith('s') ? ['mail/hourly'] : []
    for (const filter of filters.split(' ').filter((each) => each !== '')) {
      const value = { state: 'ERROR', 'group-match': 'contains' }[filter] ?? 'x'
      const refused = await run([
        verb,
        kind,
        ...key,
        `--${filter}`,
        value,
        '--yes',
        '--server',
        'http://[::1]:1',
      ])
      expect(refused).toMatchObject({ code: 2, out: '' })
      expect(refused.err).toContain(`--${filter} is not for '${verb} ${kind}'`)
    }
  })
})

/** Resolves when so many executions have begun. */
function begun(scheduler: Scheduler, count: number): Promise<void> {
  let left = count
  return new Promise((resolve) => {
    scheduler.events.on('jobToBeExecuted', () => {
      left--
      if (left === 0) resolve()
    })
  })
}

describe('nodes and executions', () => {
  test('of a SQLite file are known to the process that has it', async () => {
    const { run } = await storePlace()
    for (const args of [['nodes'], ['history', '--running'], ['interrupt', 'execution', 'x']]) {
      expect(await run(...args)).toMatchObject({ code: 1, out: '', err: /ask its server with --server/ })
    }
  })

  test('of a server are listed', async () => {
    const { run } = await serverPlace()
    expect((await run('nodes')).out).toMatch(/^NODE .*\nNON_CLUSTERED +alive +standby +0/)
    expect((await run('history', '--running')).out).toBe('Nothing runs.\n')
  })
})

describe('interrupt', () => {
  test('names what does not run', async () => {
    const { run } = await serverPlace()
    const idle = await run('interrupt', 'job', 'mail/hourly')
    expect(idle).toMatchObject({ code: 3, err: /does not run on any node/ })
    expect(await run('interrupt', 'execution', 'x')).toMatchObject({ code: 3, err: /'x' does not run/ })
  })

  test('stops executions of a server, several of them with --yes', async () => {
    const { run, scheduler } = await serverPlace()
    const key = await addPlainJob(scheduler, 'waiting', 'long', 'mail')
    await scheduler.start()
    const first = begun(scheduler, 1)
    await scheduler.triggerJob(key)
    await first
    const listed = await run('history', '--running', '--json')
    const { items } = JSON.parse(listed.out) as { items: { fireInstanceId: string }[] }
    expect(items).toHaveLength(1)
    const id = items[0]?.fireInstanceId ?? ''
    expect((await run('interrupt', 'execution', id, '--dry-run')).out).toBe(
      `execution ${id}: would be told to stop\n`,
    )
    expect((await run('interrupt', 'execution', id)).out).toMatch(/: told to stop on \S+\n$/)
    await scheduler.idle()
    const both = begun(scheduler, 2)
    await scheduler.triggerJob(key)
    await scheduler.triggerJob(key)
    await both
    expect(await run('interrupt', 'job', 'mail/long')).toMatchObject({ code: 2, err: /changes 2 executions/ })
    expect((await run('interrupt', 'job', 'mail/long', '--yes')).code).toBe(0)
    await scheduler.idle()
  })
})

describe('tables', () => {
  interface Line {
    readonly id: string
    readonly error: string
  }
  const columns: readonly Column<Line>[] = [
    { title: 'ID', of: ({ id }) => id },
    { title: 'ERROR', of: ({ error }) => error, mayBeCut: true },
    { title: 'AGAIN', of: ({ id }) => id, align: 'right' },
  ]
  const lines = ['a', 'b'].map((name) => ({ id: name.repeat(30), error: 'it broke '.repeat(30) }))

  test.each([40, 80, 120])('have whole ids in %d columns, and are no wider where these fit', (width) => {
    const stdout = new FakeOutput({ isTerminal: true, columns: width })
    const table = new Table(columns, stdout)
    table.write(lines)
    table.write([{ id: 'c'.repeat(40), error: '' }])
    expect(stdout.text.match(/a{30}|b{30}|c{40}/g)).toHaveLength(6)
    expect(stdout.text).toContain('…')
    const [first = ''] = stdout.lines.slice(1)
    expect(first.length).toBe(Math.max(width, 30 + 2 + 6 + 2 + 30))
  })

  test('are whole where no terminal is', () => {
    const stdout = new FakeOutput()
    new Table(columns, stdout).write(lines)
    expect(stdout.text.match(/it broke/g)).toHaveLength(60)
  })

  test('of commands have keys that can be copied, and no control characters', async () => {
    const fixture = await serverFixture()
    onTestFinished(() => fixture[Symbol.asyncDispose]())
    const stdout = new FakeOutput({ isTerminal: true, columns: 40 })
    const host = new FakeHost({
      clock: systemClock,
      stdout,
      environment: { QUARTZ_TS_TOKEN: tokens.viewer },
    })
    expect(await runCli(['triggers', '--server', fixture.address], host)).toBe(0)
    expect(stdout.text).toContain('reports/daily')
    expect(stdout.text).not.toMatch(/…|\u001b/)
  })
})
