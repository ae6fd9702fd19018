import pg from 'pg'
import { createScheduler, defineJob, JobBuilder, type Scheduler, TriggerBuilder } from 'quartz-ts'
import { postgresJobStore } from 'quartz-ts/postgres'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { systemClock } from '../../src/time/clock.ts'
import { FakeHost, run as runCommand, temporaryFile } from '../cli/fake-host.ts'
import { freshDatabase } from '../support/postgres-database.ts'

interface Cluster {
  readonly node: Scheduler
  readonly connectionString: string
  readonly run: (...args: readonly string[]) => ReturnType<typeof runCommand>
}

/** A node on a database, and commands that are attached to it. */
async function cluster(): Promise<Cluster> {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { connectionString } = database
  const waiting = defineJob('waiting', async ({ signal }) => {
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
    })
  })
  const node = await createScheduler({
    logger: false,
    jobStore: postgresJobStore({ connectionString }),
    instanceId: 'node-1',
    jobs: [waiting],
    // What the commands change is seen by a signal, and not by looking.
    idleWaitMs: 3_600_000,
  })
  onTestFinished(() => node.shutdown())
  const job = JobBuilder.newJob(waiting).withIdentity('long', 'mail').storeDurably().build()
  const trigger = TriggerBuilder.newTrigger().withIdentity('long', 'mail').startAt(new Date('2199-01-01'))
  await node.scheduleJob(job, trigger.build())
  await node.start()
  const run: Cluster['run'] = (...args) =>
    runCommand([...args, '--store', connectionString], { clock: systemClock })
  return { node, connectionString, run }
}

test('commands on a database steer the nodes of its cluster, and are no node of it', async () => {
  const { node, run } = await cluster()
  expect((await run('triggers')).out).toMatch(/^TRIGGER.*\nmail\/long +mail\/long +simple +NORMAL/)
  const begun = node.events.next('jobToBeExecuted')
  const told = await run('run', 'job', 'mail/long')
  expect(told.out).toMatch(/told to run, by trigger \S+, in the cluster\n$/)
  await begun
  const nodes = JSON.parse((await run('nodes', '--json')).out) as { items: { instanceId: string }[] }
  expect(nodes.items.map(({ instanceId }) => instanceId)).toEqual(['node-1'])
  expect((await run('history', '--running')).out).toMatch(/mail\/long +\S+ +node-1 +\S+\n$/)
  const ended = node.events.next('jobWasExecuted')
  expect((await run('interrupt', 'job', 'mail/long')).out).toBe(
    'job mail/long: told to stop in the cluster\n',
  )
  await ended
  expect((await run('pause', 'trigger', 'mail/long')).out).toBe('trigger mail/long: paused in the cluster\n')
  expect((await run('triggers', '--state', 'PAUSED')).out).toContain('mail/long')
})

test('a command does not wait for a table that it does not need', async () => {
  const { connectionString, run } = await cluster()
  const holder = new pg.Client({ connectionString })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE qrtz_execution_history IN ACCESS EXCLUSIVE MODE')
  expect((await run('triggers')).out).toMatch(/^TRIGGER.*\nmail\/long +mail\/long +simple +NORMAL/)
  expect((await run('pause', 'trigger', 'mail/long')).out).toBe('trigger mail/long: paused in the cluster\n')
})

test('migrate says which session it waits for', async () => {
  await using database = await freshDatabase()
  const { connectionString } = database
  const host = new FakeHost({ clock: systemClock })
  const migrate = ['migrate', '--store', connectionString]
  expect((await runCommand(migrate)).code).toBe(0)
  await database.query('DELETE FROM qrtz_schema_version WHERE version = 2')
  await database.query('ALTER TABLE qrtz_job_details DROP COLUMN job_plan')
  const holder = new pg.Client({ connectionString, application_name: 'report' })
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT count(*) FROM qrtz_job_details')
  const migrating = runCli(migrate, host)
  const told = await host.stderr.until(/\n.*\n/)
  expect(told).toMatch(/^Waits for a lock, for [\d.]+ m?s so far: ALTER TABLE "?qrtz_job_details/)
  expect(told).toMatch(
    /\n {2}session \d+ \(report, idle in transaction, transaction of [\d.]+ m?s\): SELECT count\(\*\) FROM qrtz_/,
  )
  await holder.query('COMMIT')
  await holder.end()
  expect(await migrating).toBe(0)
  expect(host.stdout.text).toMatch(/: applied version 2\n$/)
})

test('definitions are imported for nodes that know their jobs', async () => {
  const { node, run } = await cluster()
  const file = temporaryFile('all.json', (await run('export')).out)
  await node.deleteJob((await node.queryJobs()).items[0]?.key ?? expect.fail('there is one'))
  expect((await run('import', file, '--yes')).out).toMatch(/\nadded 2, changed 0, removed 0; 0 the same\n$/)
  expect((await node.queryTriggers()).items).toHaveLength(1)
})

test('the data source of a quartz.properties is a place', async () => {
  const { connectionString } = await cluster()
  const { host, pathname, username, password } = new URL(connectionString)
  const settings = temporaryFile(
    'quartz.properties',
    `org.quartz.jobStore.dataSource = main
org.quartz.jobStore.isClustered = true
org.quartz.jobStore.useProperties = true
org.quartz.dataSource.main.URL = jdbc:postgresql://${host}${pathname}
org.quartz.dataSource.main.user = ${decodeURIComponent(username)}
org.quartz.dataSource.main.password = ${decodeURIComponent(password)}
`,
  )
  const { code, out, err } = await runCommand(['jobs', '--config', settings], { clock: systemClock })
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('mail/long')
})
