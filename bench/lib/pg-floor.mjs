import { pg } from './postgres.mjs'

/**
 * Firings a second of a program that writes the rows of firings in Quartz's tables and does nothing else: no look at
 * jobs, data or locks, and one statement for each transaction. Firings and their ends overlap. One-shots are deleted
 * with their jobs when they have fired; triggers that repeat move on.
 */
export async function floorRate({
  connectionString,
  schema,
  schedulerName,
  batch,
  count,
  repeating = false,
}) {
  const options = { connectionString, options: `-c search_path=${schema} -c enable_seqscan=off` }
  const [firing, ending] = [new pg.Client(options), new pg.Client(options)]
  await Promise.all([firing.connect(), ending.connect()])
  const fireText = repeating ? fireAgainText : fireOnceText
  const endText = repeating ? endFiringText : endAllText
  let done = 0
  const end = async (rows) => {
    const columns = [
      'entry_id',
      ...(repeating ? [] : ['trigger_name', 'trigger_group', 'job_name', 'job_group']),
    ]
    const values = columns.map((column) => rows.map((row) => row[column]))
    done += (await ending.query(endText, [schedulerName, ...values])).rowCount
  }
  const startedMs = performance.now()
  let ended = Promise.resolve()
  let fired = 0
  while (fired < count) {
    const { rows } = await firing.query(fireText, [schedulerName, Date.now(), batch])
    fired += rows.length
    // One batch is being ended while the next one fires.
    await ended
    ended = end(rows)
  }
  await ended
  const elapsedMs = performance.now() - startedMs
  await Promise.all([firing.end(), ending.end()])
  if (done !== fired) throw new Error(`${done} ends instead of ${fired}`)
  return fired / (elapsedMs / 1000)
}

/** What is due, and a row for each firing of it. */
function fireText(moved) {
  return `
  WITH due AS (
    SELECT sched_name, trigger_name, trigger_group, job_name, job_group, next_fire_time, priority
    FROM qrtz_triggers
    WHERE sched_name = $1 AND trigger_state = 'WAITING' AND next_fire_time <= CAST($2 AS bigint)
    ORDER BY next_fire_time, priority DESC LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED),
  ${moved}
  INSERT INTO qrtz_fired_triggers (sched_name, entry_id, trigger_name, trigger_group, instance_name, fired_time,
    sched_time, priority, state, job_name, job_group, is_nonconcurrent, requests_recovery)
  SELECT sched_name, 'floor-' || trigger_name || next_fire_time, trigger_name, trigger_group, 'floor',
    CAST($2 AS bigint), next_fire_time, priority, 'EXECUTING', job_name, job_group, false, false
  FROM due RETURNING entry_id, trigger_name, trigger_group, job_name, job_group`
}

const fireOnceText = fireText(`
  moved AS (
    UPDATE qrtz_triggers AS t SET trigger_state = 'COMPLETE', next_fire_time = NULL,
      prev_fire_time = d.next_fire_time, misfire_orig_fire_time = d.next_fire_time
    FROM due AS d WHERE t.sched_name = d.sched_name AND t.trigger_group = d.trigger_group
      AND t.trigger_name = d.trigger_name)`)

const fireAgainText = fireText(`
  moved AS (
    UPDATE qrtz_triggers AS t SET next_fire_time = d.next_fire_time + 1, prev_fire_time = d.next_fire_time
    FROM due AS d WHERE t.sched_name = d.sched_name AND t.trigger_group = d.trigger_group
      AND t.trigger_name = d.trigger_name),
  counted AS (
    UPDATE qrtz_simple_triggers AS s SET times_triggered = times_triggered + 1
    FROM due AS d WHERE s.sched_name = d.sched_name AND s.trigger_group = d.trigger_group
      AND s.trigger_name = d.trigger_name)`)

const endFiringText = `
  DELETE FROM qrtz_fired_triggers AS f USING unnest(CAST($2 AS text[])) AS e(entry_id)
  WHERE f.sched_name = $1 AND f.entry_id = e.entry_id`

const endAllText = `
  WITH e AS (
    SELECT CAST($1 AS text) AS sched_name, *
    FROM unnest(CAST($2 AS text[]), CAST($3 AS text[]), CAST($4 AS text[]), CAST($5 AS text[]), CAST($6 AS text[]))
      AS e(entry_id, trigger_name, trigger_group, job_name, job_group)),
  f AS (
    DELETE FROM qrtz_fired_triggers AS f USING e WHERE f.sched_name = e.sched_name AND f.entry_id = e.entry_id),
  s AS (
    DELETE FROM qrtz_simple_triggers AS s USING e
    WHERE s.sched_name = e.sched_name AND s.trigger_group = e.trigger_group AND s.trigger_name = e.trigger_name),
  t AS (
    DELETE FROM qrtz_triggers AS t USING e
    WHERE t.sched_name = e.sched_name AND t.trigger_group = e.trigger_group AND t.trigger_name = e.trigger_name)
  DELETE FROM qrtz_job_details AS j USING e
  WHERE j.sched_name = e.sched_name AND j.job_group = e.job_group AND j.job_name = e.job_name`
