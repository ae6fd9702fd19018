import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { systemClock } from '../../src/time/clock.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { run, temporaryFile } from './fake-host.ts'

/** As mysqldump writes it, of version 3.x; names without their columns, a table between that is not wanted. */
const dump = String.raw`
-- MySQL dump 10.13  Distrib 8.0.36
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS ${'`xxl_job_group`'};
CREATE TABLE ${'`xxl_job_group`'} (
  ${'`id`'} int(11) NOT NULL AUTO_INCREMENT,
  ${'`app_name`'} varchar(64) NOT NULL COMMENT 'it''s (the name)',
  ${'`title`'} varchar(12) NOT NULL,
  ${'`address_type`'} tinyint(4) NOT NULL DEFAULT '0',
  ${'`address_list`'} text,
  ${'`update_time`'} datetime DEFAULT NULL,
  PRIMARY KEY (${'`id`'})
) ENGINE=InnoDB;
INSERT INTO ${'`xxl_job_group`'} VALUES (1,'billing','Billing',0,NULL,'2024-01-01 00:00:00'),
 (2,'reports','Reports',1,'http://10.0.0.7:9999/, http://10.0.0.8:9999','2024-01-01 00:00:00'),
 (3,'no good','x',0,NULL,NULL);
INSERT INTO xxl_job_log VALUES (1,2,3);
INSERT INTO ${'`xxl_job`.`xxl_job_info`'} (id, job_group, job_desc, schedule_type, schedule_conf, misfire_strategy,
  executor_route_strategy, executor_handler, executor_param, executor_block_strategy, executor_timeout,
  executor_fail_retry_count, glue_type, glue_source, glue_updatetime, child_jobid, alarm_email, trigger_status,
  trigger_next_time) VALUES
 (17,1,'Invoices; it\'s "May"','CRON','0 0 7 ? * MON-FRI','FIRE_ONCE_NOW','CONSISTENT_HASH','invoices','a=1\nb=2',
  'COVER_EARLY',600,2,'BEAN','','2024-05-01 10:00:00','18,19','ops@example.org',1,1790000000000),
 (18,2,'Every minute','FIX_RATE','60','DO_NOTHING','FIRST','tick','','SERIAL_EXECUTION',0,0,'BEAN','',NULL,'','',1,
  1790000000000),
 (19,2,'Script','NONE','','DO_NOTHING','SHARDING_BROADCAST','','','DISCARD_LATER',0,0,'GLUE_SHELL','echo \'a;b\'\n',
  '2024-05-01 10:00:00','','',0,0),
 (20,1,'Stopped','CRON','0 0 8 * * ?','DO_NOTHING','FIRST','h','','SERIAL_EXECUTION',0,0,'BEAN','',NULL,'','',0,0),
 (21,1,'Broken','CRON','every day','DO_NOTHING','SIDEWAYS','h','','SERIAL_EXECUTION',0,0,'BEAN','',NULL,'','',1,0),
 (22,2,'After','FIX_DELAY','30','DO_NOTHING','FIRST','h','','SERIAL_EXECUTION',0,0,'BEAN','',NULL,'','',1,0),
 (23,99,'Lost','NONE','','DO_NOTHING','FIRST','h','','SERIAL_EXECUTION',0,0,'BEAN','',NULL,'','',0,0),
 ('x',1,'No id','NONE','','DO_NOTHING','FIRST','h','','SERIAL_EXECUTION',0,0,'BEAN','',NULL,'','',0,0);
INSERT INTO xxl_job_user (id, username, password, role, permission) VALUES
 (1,'admin','e10adc3949ba59abbe56e057f20f883e',1,NULL), (2,'bob','e10adc3949ba59abbe56e057f20f883e',0,'1,2');
-- Dump completed on 2024-05-02 10:00:00
`

const written = (file: string): Record<string, never> => JSON.parse(readFileSync(file, 'utf8')) as never

describe('xxl import', () => {
  test('says what a dump has, and what is not the same', async () => {
    const { code, out, err } = await run([
      'xxl',
      'import',
      temporaryFile('dump', dump),
      '--dry-run',
      '--zone',
      'Asia/Shanghai',
    ])
    expect(err).toBe('')
    expect(out.split('\n')).toEqual([
      '2 executor groups, 6 jobs, 2 schedules, 2 users',
      'executor group billing: registers',
      'executor group reports: http://10.0.0.7:9999/, http://10.0.0.8:9999',
      'user admin: admin; needs a new password',
      'user bob: operator of billing, operator of reports; needs a new password',
      'row 3 of xxl_job_group: left out: it has no id, or no AppName of visible ASCII',
      `job 17 (Invoices; it's "May"): its child jobs (18,19) are not run after it: chain them`,
      'job 19 (Script): its code (GLUE_SHELL) is in the data of the job; earlier versions of it are not taken over',
      'job 20 (Stopped): stopped: its schedule (CRON 0 0 8 * * ?) is left out; --with-stopped takes it over',
      "job 21 (Broken): executor_route_strategy 'SIDEWAYS' is not known: FIRST is taken",
      expect.stringMatching(/^job 21 \(Broken\): its schedule is left out: .*every day/),
      'job 22 (After): its schedule (FIX_DELAY 30) is left out: no trigger counts from the end of a run; ' +
        'scheduled({ fixedDelay }) does',
      'job 23 (Lost): left out: there is no executor group 99',
      'row 8 of xxl_job_info: left out: its id is no number from 1 to 2147483647',
      '1 job: no mail goes to ops@example.org: see alerts',
      '',
    ])
    expect(code).toBe(0)
  })

  test('stores jobs with their numbers and schedules, once', async () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const job = defineJob('xxl-job', () => {})
    await using scheduler = await createScheduler({
      jobs: [job],
      jobStore: sqliteJobStore({ filename: file }),
    })
    const place = ['--zone', 'Asia/Shanghai', '--store', file]
    const from = temporaryFile('dump', dump)
    expect((await run(['xxl', 'import', from, ...place], { clock: systemClock })).code).toBe(2)
    const first = await run(['xxl', 'import', from, '--yes', ...place], { clock: systemClock })
    expect(first.out).toMatch(/added 8, changed 0, removed 0; 0 the same\n$/)
    const again = await run(['xxl', 'import', from, ...place], {
      clock: { ...systemClock, now: () => systemClock.now() + 60_000 },
    })
    expect(again.out).toMatch(/added 0, changed 0, removed 0; 8 the same\n$/)
    const stored = await scheduler.getJobDetail(jobKey('17', 'billing'))
    expect(stored?.description).toBe(`Invoices; it's "May"`)
    expect(stored?.retry?.attempts).toBe(3)
    expect(stored?.jobDataMap).toEqual({
      appName: 'billing',
      jobId: 17,
      handler: 'invoices',
      param: 'a=1\nb=2',
      route: 'CONSISTENT_HASH',
      blockStrategy: 'COVER_EARLY',
      timeoutSeconds: 600,
    })
    const trigger = await scheduler.getTrigger(triggerKey('17', 'billing'))
    expect(trigger).toMatchObject({ type: 'cron', misfireInstruction: 'fireOnceNow' })
    const rate = await scheduler.getTrigger(triggerKey('18', 'reports'))
    expect(rate).toMatchObject({
      repeatIntervalMs: 60_000,
      misfireInstruction: 'rescheduleNextWithRemainingCount',
    })
    const script = (await scheduler.getJobDetail(jobKey('19', 'reports')))?.jobDataMap
    expect(script?.['route']).toBe('SHARDING_BROADCAST')
    const broadcast = await scheduler.getJobDetail(jobKey('19', 'reports'))
    expect(broadcast).toMatchObject({ sharding: { items: 'remote' }, requestsRecovery: true })
    expect(stored?.sharding).toBeNull()
    // 10:00 in Shanghai.
    expect(script?.['glue']).toEqual({
      type: 'GLUE_SHELL',
      source: `echo 'a;b'\n`,
      updated: Date.UTC(2024, 4, 1, 2),
    })
  })

  test('reads JSON of both kinds, and the columns of version 2.2 and of the pages of the admin', async () => {
    const group = { id: 1, appName: 'billing', title: 'Billing', addressType: 0, access_token: 's3cret' }
    const job = {
      id: '5',
      jobGroup: 1,
      jobDesc: 'old',
      jobCron: '0 0 8 * * ?',
      triggerStatus: 0,
      executorHandler: 'h',
    }
    const tables = { xxl_job_group: [group], xxl_job_info: [job, null, 7] }
    const asTables = temporaryFile('dump', JSON.stringify(tables))
    const asExport = temporaryFile(
      'dump',
      JSON.stringify([
        { type: 'header' },
        ...Object.entries(tables).map(([name, data]) => ({ type: 'table', name, data })),
      ]),
    )
    for (const file of [asTables, asExport]) {
      const out = join(temporaryFolder(), 'out.json')
      const report = join(temporaryFolder(), 'report.json')
      const result = await run(
        ['xxl', 'import', file, '--with-stopped', '--job-type', 'remote', '--zone', 'UTC', '--json'].concat(
          ...[
            ['--out', out],
            ['--report', report],
          ],
        ),
      )
      expect(result.code).toBe(0)
      expect(JSON.parse(result.out)).toEqual(written(report))
      expect(written(report)).toMatchObject({ jobs: 1, schedules: 1, executors: { billing: [] }, users: [] })
      expect(readFileSync(report, 'utf8')).not.toContain('s3cret')
      expect(written(out)).toMatchObject({
        jobs: [{ key: { group: 'billing', name: '5' }, fields: { jobType: 'remote', description: 'old' } }],
        triggers: [{ fields: { type: 'cron', misfireInstruction: 'doNothing' } }],
      })
    }
  })

  test('a dry run writes no file', async () => {
    const out = join(temporaryFolder(), 'out.json')
    expect((await run(['xxl', 'import', temporaryFile('dump', dump), '--dry-run', '--out', out])).code).toBe(
      0,
    )
    expect(existsSync(out)).toBe(false)
  })

  test('stores where the settings say, and refuses --yes where nothing would be stored', async () => {
    const file = join(temporaryFolder(), 'jobs.db')
    await sqliteJobStore({ filename: file }).migrate()
    const from = temporaryFile('dump', dump)
    const config = temporaryFile(
      'quartz-ts.config.mjs',
      `export default { jobStore: 'sqlite:${file}', schedulerName: 'billing' }`,
    )
    const folder = process.cwd()
    process.chdir(dirname(config))
    onTestFinished(() => {
      process.chdir(folder)
    })
    const stored = await run(['xxl', 'import', from, '--yes'], { clock: systemClock })
    expect(stored.out).toMatch(/added 8, changed 0, removed 0; 0 the same\n$/)
    await using scheduler = await createScheduler({
      schedulerName: 'billing',
      jobStore: sqliteJobStore({ filename: file }),
    })
    expect(await scheduler.getJobDetail(jobKey('17', 'billing'))).not.toBeNull()
    process.chdir(folder)
    expect(await run(['xxl', 'import', from, '--yes'])).toMatchObject({ code: 2, err: /--store or --server/ })
    expect(await run(['xxl', 'import', from])).toMatchObject({ code: 0, err: /^Nothing was stored/ })
  })

  test.each([
    ['', /has no rows of xxl_job_group/],
    ['[]', /has no rows of/],
    ['{"xxl_job_info": 5}', /xxl_job_info in .* is no list of rows/],
    ['{"xxl_job_group": [{"id": 1}], "xxl_job_user": null}', /xxl_job_user in .* is no list of rows/],
    ['[{"type": "table", "name": "xxl_job_info", "data": {}}]', /xxl_job_info in .* is no list of rows/],
    ['{', /Cannot read/],
    ["INSERT INTO xxl_job_info VALUES ('never ends", /ends within row 1 of xxl_job_info/],
    [
      'CREATE TABLE xxl_job_info (; INSERT INTO xxl_job_info VALUES (1,(2,3',
      /ends within row 1 of xxl_job_info/,
    ],
  ])('what is no dump is said: %j', async (text, problem) => {
    const { code, out, err } = await run(['xxl', 'import', temporaryFile('dump', text)])
    expect(err).toMatch(problem)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  test('asks for the names of columns where a dump has none', async () => {
    const rows = "INSERT INTO xxl_job_group VALUES (1,'billing');\nINSERT INTO xxl_job_info VALUES (1,1);\n"
    const { code, out, err } = await run(['xxl', 'import', temporaryFile('dump', rows)])
    expect(err).toContain('The dump does not say what the columns of xxl_job_group are.')
    expect(err).toContain('Make it without --no-create-info, or with --complete-insert.')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    const named = rows.replace('xxl_job_group V', 'xxl_job_group (id, app_name) V')
    const second = await run(['xxl', 'import', temporaryFile('dump', named)])
    expect(second.err).toContain('the columns of xxl_job_info')
    // Tables that are not wanted need no columns.
    const others = `INSERT INTO xxl_job_log VALUES (1,2);\n${named.split('\n', 1).join('')}`
    expect(await run(['xxl', 'import', temporaryFile('dump', others)])).toMatchObject({ code: 0 })
  })

  test.each([
    ['utf16le', '\uFEFF', /is in UTF-16/],
    ['utf16le', '', /is in UTF-16/],
    ['latin1', '\u00C8\u00D5', /is not in UTF-8/],
  ] as const)('names an encoding that is not UTF-8: %s after %j', async (encoding, before, problem) => {
    const file = temporaryFile('dump', '')
    writeFileSync(file, Buffer.from(before + dump, encoding))
    const { code, out, err } = await run(['xxl', 'import', file])
    expect(err).toMatch(problem)
    expect(err).toContain("mysqldump's options --default-character-set=utf8mb4 and --result-file=FILE")
    expect({ code, out }).toEqual({ code: 2, out: '' })
    // The other order of bytes.
    if (encoding === 'utf16le') writeFileSync(file, Buffer.from(before + dump, encoding).swap16())
    expect((await run(['xxl', 'import', file])).err).toMatch(problem)
  })

  test('reads UTF-8 that begins with its mark', async () => {
    const file = temporaryFile(
      'dump',
      `\uFEFF${JSON.stringify({ xxl_job_group: [{ id: 1, app_name: 'a' }] })}`,
    )
    expect(await run(['xxl', 'import', file])).toMatchObject({ code: 0, out: /^1 executor group/ })
  })

  test('names the rows of JSON that are none', async () => {
    const rows = { xxl_job_group: [{ id: 1, app_name: 'billing' }, null, [1]], xxl_job_info: [7] }
    const { out } = await run(['xxl', 'import', temporaryFile('dump', JSON.stringify(rows))])
    expect(out.split('\n').slice(2)).toEqual([
      'row 2 of xxl_job_group: left out: it is no object',
      'row 3 of xxl_job_group: left out: it is no object',
      'row 1 of xxl_job_info: left out: it is no object',
      '',
    ])
  })

  test('refuses more jobs than an import takes before it says anything of them', async () => {
    const info = (id: number): object => ({ id, job_group: 1, schedule_type: 'NONE', executor_handler: 'h' })
    const tables = (count: number): string => {
      const jobs = Array.from({ length: count }, (_, index) => info(index + 1))
      return JSON.stringify({ xxl_job_group: [{ id: 1, app_name: 'billing' }], xxl_job_info: jobs })
    }
    const { code, out, err } = await run(['xxl', 'import', temporaryFile('dump', tables(20_001))])
    expect(err).toContain('The dump has 20,001 jobs, and an import takes at most 20,000. Split it')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(await run(['xxl', 'import', temporaryFile('dump', tables(20_000))])).toMatchObject({ code: 0 })
  })

  test('a file that is too long is refused before it is read, and so is what is no file', async () => {
    const file = temporaryFile('dump', '')
    truncateSync(file, 64 * 1024 * 1024 + 1)
    const refused = await run(['xxl', 'import', file])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.err).toContain('more than 64 MB')
    expect((await run(['xxl', 'import', '/dev/null'])).err).toContain('is no file')
    expect((await run(['xxl', 'import'])).err).toContain("'xxl' takes 'import' and one FILE")
    expect((await run(['xxl', 'export', file])).err).toContain("'xxl' takes 'import' and one FILE")
  })
})

test('xxl import names jobs that can never run, and leaves out their schedules', async () => {
  const info = (id: number, row: object): object => ({
    ...{ id, job_group: 1, schedule_type: 'CRON', schedule_conf: '0 0 7 * * ?', trigger_status: 1 },
    ...row,
  })
  const tables = {
    xxl_job_group: [{ id: 1, app_name: 'billing' }],
    xxl_job_info: [
      info(1, { glue_type: 'BEAN', executor_handler: '' }),
      info(2, { glue_type: 'GLUE_RUBY', glue_source: 'puts 1' }),
      info(3, { glue_type: 'BEAN', executor_handler: 'h', executor_timeout: 9_999_999 }),
      info(4, { glue_type: 'BEAN', executor_handler: 'h' }),
      // --with-stopped would not take it over either.
      info(5, { glue_type: 'BEAN', executor_handler: '', trigger_status: 0 }),
      info(6, { glue_type: 'BEAN', executor_handler: '', schedule_type: 'NONE' }),
    ],
  }
  const from = temporaryFile('dump.json', JSON.stringify(tables))
  const result = join(temporaryFolder(), 'out.json')
  const { out, code } = await run(['xxl', 'import', from, '--zone', 'UTC', '--out', result])
  const left = 'it cannot run, and its schedule \\(CRON 0 0 7 \\* \\* \\?\\) is left out'
  expect(out.split('\n').filter((line) => line.startsWith('job '))).toEqual([
    expect.stringMatching(new RegExp(`^job 1: ${left}: .*handler`)),
    expect.stringMatching(/^job 2: its code/),
    expect.stringMatching(new RegExp(`^job 2: ${left}: .*GLUE_RUBY`)),
    expect.stringMatching(new RegExp(`^job 3: ${left}: .*timeoutSeconds`)),
    expect.stringMatching(new RegExp(`^job 5: ${left}: .*handler`)),
    expect.stringMatching(/^job 6: it cannot run: .*handler/),
  ])
  expect(code).toBe(0)
  const { jobs, triggers } = written(result) as unknown as { jobs: object[]; triggers: object[] }
  expect(jobs).toHaveLength(6)
  expect(triggers).toMatchObject([{ key: { group: 'billing', name: '4' } }])
})

test('xxl import leaves out schedules whose times have all passed, and stores the others', async () => {
  const info = (id: number, cron: string, on: number): object => ({
    ...{ id, job_group: 1, schedule_type: 'CRON', schedule_conf: cron, trigger_status: on },
    ...{ glue_type: 'BEAN', executor_handler: 'h' },
  })
  const tables = {
    xxl_job_group: [{ id: 1, app_name: 'billing' }],
    xxl_job_info: [info(1, '0 0 1 * * ? 2020', 1), info(2, '0 0 1 1 1 ? 2021', 0), info(3, '0 0 1 * * ?', 1)],
  }
  const file = join(temporaryFolder(), 'jobs.db')
  await sqliteJobStore({ filename: file }).migrate()
  const from = temporaryFile('dump.json', JSON.stringify(tables))
  const args = ['xxl', 'import', from, '--with-stopped', '--yes', '--zone', 'UTC', '--store', file]
  const { code, out, err } = await run(args, { clock: systemClock })
  expect(err).toBe('')
  expect(code).toBe(0)
  expect(out.split('\n').filter((line) => line.includes('passed'))).toEqual([
    'job 1: its schedule is left out: all times of CRON 0 0 1 * * ? 2020 have passed',
    'job 2: its schedule is left out: all times of CRON 0 0 1 1 1 ? 2021 have passed',
  ])
  expect(out).toMatch(/added 4, changed 0, removed 0; 0 the same\n$/)
})

test('xxl import says once for all jobs to whom no mail goes', async () => {
  const info = (id: number, mail: string): object => ({
    id,
    job_group: 1,
    executor_handler: 'h',
    alarm_email: mail,
  })
  const many = Array.from({ length: 25 }, (_, index) => `p${index + 1}@example.org`)
  async function notesOf(mails: readonly string[]): Promise<readonly string[]> {
    const tables = {
      xxl_job_group: [{ id: 1, app_name: 'billing' }],
      xxl_job_info: mails.map((mail, index) => info(index + 1, mail)),
    }
    const { out } = await run(['xxl', 'import', temporaryFile('dump.json', JSON.stringify(tables))])
    return out.split('\n').filter((line) => line.includes('mail'))
  }
  expect(await notesOf(['', ' '])).toEqual([])
  expect(await notesOf(['b@c.org, a@b.org', '', 'a@b.org,,'])).toEqual([
    '2 jobs: no mail goes to b@c.org, a@b.org: see alerts',
  ])
  const shown = many.slice(0, 20).join(', ')
  expect(await notesOf(many)).toEqual([`25 jobs: no mail goes to ${shown} and 5 more: see alerts`])
})

test('xxl import names strategies that it does not know and addresses that are none', async () => {
  const info = (id: number, row: object): object => ({
    ...{ id, job_group: 1, schedule_type: 'CRON', schedule_conf: '0 0 7 * * ?', trigger_status: 1 },
    ...{ glue_type: 'BEAN', executor_handler: 'h' },
    ...row,
  })
  const tables = {
    xxl_job_group: [
      {
        id: 1,
        app_name: 'billing',
        address_type: 1,
        address_list: 'http://10.0.0.1:9999/,not a url, 10.0.0.2:9999',
      },
      { id: 2, app_name: 'mail', address_type: 1, address_list: 'nowhere' },
      // Those that registered are of no use here.
      { id: 3, app_name: 'reports', address_type: 0, address_list: 'not a url' },
    ],
    xxl_job_info: [
      info(1, { misfire_strategy: 'FIRE_TWICE' }),
      info(2, { misfire_strategy: 'FIRE_TWICE', schedule_type: 'FIX_RATE', schedule_conf: '30' }),
      info(3, { misfire_strategy: 'FIRE_TWICE', schedule_type: 'NONE' }),
      info(4, { misfire_strategy: 'FIRE_ONCE_NOW' }),
      info(5, { misfire_strategy: 'DO_NOTHING' }),
      info(6, {}),
    ],
  }
  const from = temporaryFile('dump.json', JSON.stringify(tables))
  const result = join(temporaryFolder(), 'out.json')
  const report = join(temporaryFolder(), 'report.json')
  const { code, out } = await run(
    ['xxl', 'import', from, '--zone', 'UTC', '--out', result].concat('--report', report),
  )
  expect(code).toBe(0)
  const why = "is left out: it is no URL such as 'http://10.0.0.7:9999/'"
  expect(out.split('\n').slice(1)).toEqual([
    'executor group billing: http://10.0.0.1:9999/',
    'executor group mail: registers',
    'executor group reports: registers',
    `executor group billing: the address 'not a url' ${why}`,
    `executor group billing: the address '10.0.0.2:9999' ${why}`,
    `executor group mail: the address 'nowhere' ${why}`,
    "job 1: misfire_strategy 'FIRE_TWICE' is not known: DO_NOTHING is taken",
    "job 2: misfire_strategy 'FIRE_TWICE' is not known: DO_NOTHING is taken",
    '',
  ])
  expect(written(report)).toMatchObject({ executors: { billing: ['http://10.0.0.1:9999/'], mail: [] } })
  expect((written(result) as unknown as { triggers: object[] }).triggers).toMatchObject([
    { fields: { misfireInstruction: 'doNothing' } },
    { fields: { misfireInstruction: 'rescheduleNextWithRemainingCount' } },
    { fields: { misfireInstruction: 'fireOnceNow' } },
    { fields: { misfireInstruction: 'doNothing' } },
    { fields: { misfireInstruction: 'doNothing' } },
  ])
})
