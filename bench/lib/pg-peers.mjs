import { connectionString, freshSchema } from './postgres.mjs'

/** Jobs a second of graphile-worker: its plain worker with 24 at a time, or its local queue with batched completion. */
export async function graphileWorkerRate(count, { batched }) {
  const { run, runMigrations } = await import('graphile-worker')
  const { schema, client, drop } = await freshSchema()
  const common = { connectionString: connectionString(), schema }
  await runMigrations(common)
  // Many in one call: `add_job` once for each takes ever longer in one transaction, minutes for 60,000.
  await client.query(
    `SELECT count(*) FROM ${schema}.add_jobs(ARRAY(
       SELECT json_populate_record(CAST(NULL AS ${schema}.job_spec), '{"identifier": "noop", "payload": {}}')
       FROM generate_series(1, ${count})))`,
  )
  await client.query('ANALYZE')
  let done = 0
  let lastDone
  const all = new Promise((resolve) => {
    lastDone = resolve
  })
  const startedMs = performance.now()
  const runner = await run({
    connectionString: connectionString(),
    schema,
    concurrency: 24,
    maxPoolSize: 24,
    noHandleSignals: true,
    logger: await quiet(),
    taskList: {
      noop: async () => {
        if (++done === count) lastDone(performance.now())
      },
    },
    preset: batched
      ? { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } }
      : undefined,
  })
  const endedMs = await all
  await runner.stop()
  await drop()
  return count / ((endedMs - startedMs) / 1000)
}

/** Jobs a second of pg-boss, fetched and completed a thousand at a time without a pause. */
export async function pgBossRate(count) {
  const { default: PgBoss } = await import('pg-boss')
  const { schema, client, drop } = await freshSchema()
  const boss = new PgBoss({ connectionString: connectionString(), schema, supervise: false, schedule: false })
  boss.on('error', (error) => {
    throw error
  })
  await boss.start()
  await boss.createQueue('noop')
  const jobs = Array.from({ length: count }, () => ({ name: 'noop', data: {} }))
  for (let from = 0; from < count; from += 1000) await boss.insert(jobs.slice(from, from + 1000))
  await client.query('ANALYZE')
  const startedMs = performance.now()
  let done = 0
  while (done < count) {
    const batch = await boss.fetch('noop', { batchSize: 1000 })
    done += batch.length
    await boss.complete(
      'noop',
      batch.map(({ id }) => id),
    )
  }
  const rate = count / ((performance.now() - startedMs) / 1000)
  await boss.stop({ graceful: false })
  await drop()
  return rate
}

async function quiet() {
  const { Logger } = await import('graphile-worker')
  return new Logger(() => () => {})
}

/** Milliseconds from adding a job to the start of its body, one at a time. */
export async function graphileWorkerLatencies(count) {
  const { run, makeWorkerUtils } = await import('graphile-worker')
  const { schema, drop } = await freshSchema()
  let began = () => {}
  const common = { connectionString: connectionString(), schema, logger: await quiet() }
  const runner = await run({
    ...common,
    concurrency: 24,
    noHandleSignals: true,
    taskList: { noop: async () => began(performance.now()) },
  })
  const utils = await makeWorkerUtils(common)
  const samples = []
  for (let index = 0; index < count + 50; index++) {
    const body = new Promise((resolve) => {
      began = resolve
    })
    const askedMs = performance.now()
    await utils.addJob('noop', {})
    samples.push((await body) - askedMs)
  }
  await utils.release()
  await runner.stop()
  await drop()
  return samples.slice(50)
}
