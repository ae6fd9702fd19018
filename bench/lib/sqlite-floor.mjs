import { createRequire } from 'node:module'

const ofProject = createRequire(new URL('../../package.json', import.meta.url))

/**
 * Jobs a second of a program that writes the rows which one-shots need in Quartz's tables of a SQLite file and does
 * nothing else: no look at jobs, data or who else is there, and two transactions for each batch.
 */
export function sqliteFloorRate({ filename, schedulerName, batch, count }) {
  const Database = ofProject('better-sqlite3')
  const database = new Database(filename)
  // As the store sets them.
  for (const setting of ['journal_mode = WAL', 'synchronous = NORMAL', 'wal_autocheckpoint = 8000']) {
    database.pragma(setting)
  }
  const prepared = (text) => database.prepare(text)
  const due = prepared(dueText).raw()
  const moved = prepared(movedText)
  const began = prepared(beganText)
  const firingGone = prepared(firingGoneText)
  const triggerGone = triggerGoneTexts.map(prepared)
  const jobGone = prepared(jobGoneText)
  const fire = database.transaction((nowMs) => {
    const rows = due.all(schedulerName, nowMs, batch)
    for (const [name, group, jobName, jobGroup, fireTimeMs, priority] of rows) {
      moved.run(fireTimeMs, fireTimeMs, name, group, schedulerName)
      began.run(schedulerName, name, name, group, nowMs, fireTimeMs, priority, jobName, jobGroup)
    }
    return rows
  })
  const end = database.transaction((rows) => {
    for (const [name, group, jobName, jobGroup] of rows) {
      firingGone.run(schedulerName, name)
      for (const statement of triggerGone) statement.run(name, group, schedulerName)
      jobGone.run(jobName, jobGroup, schedulerName)
    }
  })
  const startedMs = performance.now()
  let done = 0
  while (done < count) {
    const rows = fire.immediate(Date.now())
    if (rows.length === 0) throw new Error(`${done} ends instead of ${count}`)
    end.immediate(rows)
    done += rows.length
  }
  const elapsedMs = performance.now() - startedMs
  database.close()
  return count / (elapsedMs / 1000)
}

const dueText = `
  SELECT trigger_name, trigger_group, job_name, job_group, next_fire_time, priority FROM qrtz_triggers
  WHERE sched_name = ? AND trigger_state = 'WAITING' AND next_fire_time <= ?
  ORDER BY next_fire_time, priority DESC LIMIT ?`

const movedText = `
  UPDATE qrtz_triggers SET trigger_state = 'COMPLETE', next_fire_time = NULL, prev_fire_time = ?,
    misfire_orig_fire_time = ?
  WHERE trigger_name = ? AND trigger_group = ? AND sched_name = ?`

const beganText = `
  INSERT INTO qrtz_fired_triggers (sched_name, entry_id, trigger_name, trigger_group, instance_name, fired_time,
    sched_time, priority, state, job_name, job_group, is_nonconcurrent, requests_recovery)
  VALUES (?, 'floor-' || ?, ?, ?, 'floor', ?, ?, ?, 'EXECUTING', ?, ?, false, false)`

const firingGoneText = "DELETE FROM qrtz_fired_triggers WHERE sched_name = ? AND entry_id = 'floor-' || ?"

const triggerGoneTexts = ['qrtz_simple_triggers', 'qrtz_triggers'].map(
  (table) => `DELETE FROM ${table} WHERE trigger_name = ? AND trigger_group = ? AND sched_name = ?`,
)

const jobGoneText = 'DELETE FROM qrtz_job_details WHERE job_name = ? AND job_group = ? AND sched_name = ?'
