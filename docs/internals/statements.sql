-- Every statement of the SQL store, as each engine is sent it, with its parameters by name and the functions that
-- ask for it. Printed by `npm run statements` from src/jobstore; a test compares. Tables have their default prefix.
-- What makes the tables is printed by `quartz-ts migrate --print`. A statement about one row is sent to PostgreSQL
-- with a value for each column: an INSERT has VALUES, and others SELECT them in place of the set of rows.

--------------------------------------------------------------------------------------
-- triggers: triggers, simple_triggers, cron_triggers, simprop_triggers, blob_triggers
--------------------------------------------------------------------------------------

-- triggers.advanceWaiting.byKey
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/skipping.ts (skipNextFire)
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_triggers
SET next_fire_time = :next_fire_time, prev_fire_time = :prev_fire_time,
  misfire_orig_fire_time = :misfire_orig_fire_time
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- triggers.advanceWaiting.byPlace
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/skipping.ts (skipNextFire)
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_triggers AS t
SET next_fire_time = :next_fire_time, prev_fire_time = :prev_fire_time,
  misfire_orig_fire_time = :misfire_orig_fire_time
WHERE t.rowid = :row_id;

-- triggers.insert
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group, description,
  next_fire_time, prev_fire_time, priority, trigger_state, trigger_type, start_time, end_time, calendar_name,
  misfire_instr, job_data, misfire_orig_fire_time, node_affinity)
VALUES (:scheduler, :trigger_name, :trigger_group, :job_name, :job_group, :description, :next_fire_time,
  :prev_fire_time, :priority, :trigger_state, :trigger_type, :start_time, :end_time, :calendar_name,
  :misfire_instr, CAST(:job_data AS BLOB), :misfire_orig_fire_time, :node_affinity);

-- PostgreSQL
INSERT INTO qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group, description,
  next_fire_time, prev_fire_time, priority, trigger_state, trigger_type, start_time, end_time, calendar_name,
  misfire_instr, job_data, misfire_orig_fire_time, node_affinity)
SELECT :scheduler, r.trigger_name, r.trigger_group, r.job_name, r.job_group, r.description, r.next_fire_time,
  r.prev_fire_time, r.priority, r.trigger_state, r.trigger_type, r.start_time, r.end_time, r.calendar_name,
  r.misfire_instr, convert_to(r.job_data, 'UTF8'), r.misfire_orig_fire_time, r.node_affinity
FROM (
  SELECT *
  FROM unnest(CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:job_name AS text[]),
    CAST(:job_group AS text[]), CAST(:description AS text[]), CAST(:next_fire_time AS bigint[]),
    CAST(:prev_fire_time AS bigint[]), CAST(:priority AS bigint[]), CAST(:trigger_state AS text[]),
    CAST(:trigger_type AS text[]), CAST(:start_time AS bigint[]), CAST(:end_time AS bigint[]),
    CAST(:calendar_name AS text[]), CAST(:misfire_instr AS bigint[]), CAST(:job_data AS text[]),
    CAST(:misfire_orig_fire_time AS bigint[]), CAST(:node_affinity AS text[])) AS r (trigger_name,
    trigger_group, job_name, job_group, description, next_fire_time, prev_fire_time, priority, trigger_state,
    trigger_type, start_time, end_time, calendar_name, misfire_instr, job_data, misfire_orig_fire_time,
    node_affinity)
) AS r
WHERE true;

-- triggers.upsert
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group, description,
  next_fire_time, prev_fire_time, priority, trigger_state, trigger_type, start_time, end_time, calendar_name,
  misfire_instr, job_data, misfire_orig_fire_time, node_affinity)
VALUES (:scheduler, :trigger_name, :trigger_group, :job_name, :job_group, :description, :next_fire_time,
  :prev_fire_time, :priority, :trigger_state, :trigger_type, :start_time, :end_time, :calendar_name,
  :misfire_instr, CAST(:job_data AS BLOB), :misfire_orig_fire_time, :node_affinity)
ON CONFLICT (sched_name, trigger_name, trigger_group) DO UPDATE SET job_name = excluded.job_name,
  job_group = excluded.job_group, description = excluded.description,
  next_fire_time = excluded.next_fire_time, prev_fire_time = excluded.prev_fire_time,
  priority = excluded.priority, trigger_state = excluded.trigger_state, trigger_type = excluded.trigger_type,
  start_time = excluded.start_time, end_time = excluded.end_time, calendar_name = excluded.calendar_name,
  misfire_instr = excluded.misfire_instr, job_data = excluded.job_data,
  misfire_orig_fire_time = excluded.misfire_orig_fire_time, node_affinity = excluded.node_affinity;

-- PostgreSQL
INSERT INTO qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group, description,
  next_fire_time, prev_fire_time, priority, trigger_state, trigger_type, start_time, end_time, calendar_name,
  misfire_instr, job_data, misfire_orig_fire_time, node_affinity)
SELECT :scheduler, r.trigger_name, r.trigger_group, r.job_name, r.job_group, r.description, r.next_fire_time,
  r.prev_fire_time, r.priority, r.trigger_state, r.trigger_type, r.start_time, r.end_time, r.calendar_name,
  r.misfire_instr, convert_to(r.job_data, 'UTF8'), r.misfire_orig_fire_time, r.node_affinity
FROM (
  SELECT *
  FROM unnest(CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:job_name AS text[]),
    CAST(:job_group AS text[]), CAST(:description AS text[]), CAST(:next_fire_time AS bigint[]),
    CAST(:prev_fire_time AS bigint[]), CAST(:priority AS bigint[]), CAST(:trigger_state AS text[]),
    CAST(:trigger_type AS text[]), CAST(:start_time AS bigint[]), CAST(:end_time AS bigint[]),
    CAST(:calendar_name AS text[]), CAST(:misfire_instr AS bigint[]), CAST(:job_data AS text[]),
    CAST(:misfire_orig_fire_time AS bigint[]), CAST(:node_affinity AS text[])) AS r (trigger_name,
    trigger_group, job_name, job_group, description, next_fire_time, prev_fire_time, priority, trigger_state,
    trigger_type, start_time, end_time, calendar_name, misfire_instr, job_data, misfire_orig_fire_time,
    node_affinity)
) AS r
WHERE true
ON CONFLICT (sched_name, trigger_name, trigger_group) DO UPDATE SET job_name = excluded.job_name,
  job_group = excluded.job_group, description = excluded.description,
  next_fire_time = excluded.next_fire_time, prev_fire_time = excluded.prev_fire_time,
  priority = excluded.priority, trigger_state = excluded.trigger_state, trigger_type = excluded.trigger_type,
  start_time = excluded.start_time, end_time = excluded.end_time, calendar_name = excluded.calendar_name,
  misfire_instr = excluded.misfire_instr, job_data = excluded.job_data,
  misfire_orig_fire_time = excluded.misfire_orig_fire_time, node_affinity = excluded.node_affinity;

-- triggers.advance.byKey
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/skipping.ts (skipNextFire)
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_triggers
SET trigger_state = :trigger_state, next_fire_time = :next_fire_time, prev_fire_time = :prev_fire_time,
  misfire_orig_fire_time = :misfire_orig_fire_time
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = r.trigger_state, next_fire_time = r.next_fire_time, prev_fire_time = r.prev_fire_time,
  misfire_orig_fire_time = r.misfire_orig_fire_time
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    trigger_state text, next_fire_time bigint, prev_fire_time bigint, misfire_orig_fire_time bigint)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.advance.byPlace
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/skipping.ts (skipNextFire)
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = :trigger_state, next_fire_time = :next_fire_time, prev_fire_time = :prev_fire_time,
  misfire_orig_fire_time = :misfire_orig_fire_time
WHERE t.rowid = :row_id;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = r.trigger_state, next_fire_time = r.next_fire_time, prev_fire_time = r.prev_fire_time,
  misfire_orig_fire_time = r.misfire_orig_fire_time
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(row_id text, trigger_state text, next_fire_time bigint,
    prev_fire_time bigint, misfire_orig_fire_time bigint)
) AS r
WHERE t.ctid = CAST(r.row_id AS tid)
  AND r.row_id = r.row_id || '';

-- triggers.reschedule
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_triggers
SET trigger_state = :trigger_state, next_fire_time = :next_fire_time, prev_fire_time = :prev_fire_time,
  misfire_orig_fire_time = :misfire_orig_fire_time, start_time = :start_time
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = r.trigger_state, next_fire_time = r.next_fire_time, prev_fire_time = r.prev_fire_time,
  misfire_orig_fire_time = r.misfire_orig_fire_time, start_time = r.start_time
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    trigger_state text, next_fire_time bigint, prev_fire_time bigint, misfire_orig_fire_time bigint,
    start_time bigint)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.setStateOfRows
--   programs/steps/faulty-triggers.ts (putRowsInError)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = :state
WHERE t.sched_name = :scheduler
  AND t.rowid IN (SELECT value FROM json_each(:rows));

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = :state
WHERE t.sched_name = :scheduler
  AND t.ctid = ANY(ARRAY(SELECT CAST(id AS tid) FROM json_array_elements_text(CAST(:rows AS json)) AS id));

-- triggers.setState
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/firing/acquiring.ts (searchTriggers)
--   programs/firing/completing.ts (completeJobs)
--   programs/firing/firing.ts (fireTriggers)
--   programs/firing/releasing.ts (release)
--   programs/scheduling/resetting.ts (resetTriggerFromErrorState)
--   programs/steps/faulty-triggers.ts (putInError)
-- SQLite
UPDATE qrtz_triggers
SET trigger_state = :trigger_state
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = r.trigger_state
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    trigger_state text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.delete
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   programs/firing/completing.ts (completeJobs)
--   programs/firing/splitting.ts (splitFirings)
--   programs/scheduling/deleting.ts (deleteRefs)
--   programs/scheduling/planning.ts (putPlanned)
--   programs/scheduling/scheduling.ts (rescheduleTrigger)
--   programs/steps/split-firings.ts (endLostItems)
-- SQLite
DELETE FROM qrtz_triggers
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
DELETE FROM qrtz_triggers AS t USING (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
  AND true;

-- triggers.selectRetyped
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.trigger_type
FROM (
  SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS trigger_group,
    value ->> 'sched_name' AS sched_name, value ->> 'trigger_type' AS trigger_type
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = r.sched_name
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND true
  AND t.trigger_type <> r.trigger_type;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.trigger_type
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    trigger_type text)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
  AND t.trigger_type <> r.trigger_type;

-- triggers.load
--   foresee-updates.ts (foreseeUpdates)
--   programs/firing/completing.ts (completeJobs)
--   programs/reading/reading.ts (getTrigger, getTriggers)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/definition-changes.ts (changeDefinitions)
--   programs/scheduling/deleting.ts (deleteTriggers)
--   programs/scheduling/former-work.ts (deleteRetriesOf, endFormerWork)
--   programs/scheduling/planning.ts (putPlanned)
--   programs/scheduling/scheduling.ts (rescheduleTrigger)
--   programs/scheduling/skipping.ts (skipNextFire)
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2
FROM (
  SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS trigger_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_triggers AS t
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = t.sched_name
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = t.sched_name
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = t.sched_name
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
WHERE t.sched_name = r.sched_name
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND true;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = ANY(ARRAY[t.sched_name])
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = ANY(ARRAY[t.sched_name])
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = ANY(ARRAY[t.sched_name])
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.loadOfJob
--   programs/reading/reading.ts (getTriggersOfJob)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_triggers AS t
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = t.sched_name
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = t.sched_name
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = t.sched_name
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
ORDER BY (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = ANY(ARRAY[t.sched_name])
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = ANY(ARRAY[t.sched_name])
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = ANY(ARRAY[t.sched_name])
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
ORDER BY (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C", t.trigger_name COLLATE "C";

-- triggers.lock
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/firing/completing.ts (completeJobs)
--   programs/firing/splitting.ts (splitFirings)
--   programs/scheduling/pausing.ts (resumeTrigger)
--   programs/steps/new-triggers.ts (lockTriggers)
--   programs/steps/split-firings.ts (endLostItems)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr
FROM qrtz_triggers AS t
WHERE t.trigger_name = :trigger_name
  AND t.trigger_group = :trigger_group
  AND t.sched_name = :sched_name;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
ORDER BY (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
FOR NO KEY UPDATE OF t;

-- triggers.tryLock
--   programs/steps/passing-over.ts (tryLockTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr
FROM qrtz_triggers AS t
WHERE t.trigger_name = :trigger_name
  AND t.trigger_group = :trigger_group
  AND t.sched_name = :sched_name;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
ORDER BY (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
FOR NO KEY UPDATE OF t SKIP LOCKED;

-- triggers.tryLockIn.simple_triggers
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT s.trigger_name, s.trigger_group
FROM qrtz_simple_triggers AS s
WHERE s.trigger_name = :trigger_name
  AND s.trigger_group = :trigger_group
  AND s.sched_name = :sched_name;

-- PostgreSQL
SELECT s.trigger_name, s.trigger_group
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_simple_triggers AS s
WHERE s.sched_name = ANY(ARRAY[r.sched_name])
  AND s.trigger_name = r.trigger_name
  AND s.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (s.trigger_group, s.trigger_name) >= (r.trigger_group, r.trigger_name)
FOR NO KEY UPDATE OF s SKIP LOCKED;

-- triggers.tryLockIn.cron_triggers
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT c.trigger_name, c.trigger_group
FROM qrtz_cron_triggers AS c
WHERE c.trigger_name = :trigger_name
  AND c.trigger_group = :trigger_group
  AND c.sched_name = :sched_name;

-- PostgreSQL
SELECT c.trigger_name, c.trigger_group
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_cron_triggers AS c
WHERE c.sched_name = ANY(ARRAY[r.sched_name])
  AND c.trigger_name = r.trigger_name
  AND c.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (c.trigger_group, c.trigger_name) >= (r.trigger_group, r.trigger_name)
FOR NO KEY UPDATE OF c SKIP LOCKED;

-- triggers.tryLockIn.simprop_triggers
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT p.trigger_name, p.trigger_group
FROM qrtz_simprop_triggers AS p
WHERE p.trigger_name = :trigger_name
  AND p.trigger_group = :trigger_group
  AND p.sched_name = :sched_name;

-- PostgreSQL
SELECT p.trigger_name, p.trigger_group
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_simprop_triggers AS p
WHERE p.sched_name = ANY(ARRAY[r.sched_name])
  AND p.trigger_name = r.trigger_name
  AND p.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (p.trigger_group, p.trigger_name) >= (r.trigger_group, r.trigger_name)
FOR NO KEY UPDATE OF p SKIP LOCKED;

-- triggers.lockOfJobs
--   programs/firing/completing.ts (completeJobs)
--   programs/scheduling/deleting.ts (deleteJobs)
--   programs/scheduling/former-work.ts (deleteRetriesOf, endFormerWork)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
ORDER BY (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
ORDER BY (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
FOR NO KEY UPDATE OF t;

-- triggers.lockOfCalendar
--   programs/scheduling/calendar-changes.ts (addCalendar)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.calendar_name = :name
ORDER BY (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_state, t.next_fire_time,
  t.calendar_name, t.trigger_type, t.misfire_instr
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.calendar_name = :name
ORDER BY (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
FOR NO KEY UPDATE OF t;

-- triggers.apply.acquire
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'ACQUIRED' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('WAITING')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'ACQUIRED' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('WAITING')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.release
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ACQUIRED' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('ACQUIRED')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ACQUIRED' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('ACQUIRED')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.fire
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ACQUIRED' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('ACQUIRED')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ACQUIRED' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('ACQUIRED')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.fireLast
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ACQUIRED' THEN 'COMPLETE' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('ACQUIRED')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ACQUIRED' THEN 'COMPLETE' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('ACQUIRED')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.block
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'BLOCKED' WHEN 'ACQUIRED' THEN 'BLOCKED' WHEN
  'PAUSED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'PAUSED')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'BLOCKED' WHEN 'ACQUIRED' THEN 'BLOCKED' WHEN
  'PAUSED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'PAUSED')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.unblock
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'BLOCKED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'PAUSED'
  ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'BLOCKED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'PAUSED'
  ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.pause
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.resume
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED'
  ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED'
  ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.complete
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'COMPLETE' WHEN 'ACQUIRED' THEN 'COMPLETE' WHEN
  'BLOCKED' THEN 'COMPLETE' WHEN 'PAUSED' THEN 'COMPLETE' WHEN 'PAUSED_BLOCKED' THEN 'COMPLETE' WHEN 'ERROR'
  THEN 'COMPLETE' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED', 'PAUSED', 'PAUSED_BLOCKED', 'ERROR')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'COMPLETE' WHEN 'ACQUIRED' THEN 'COMPLETE' WHEN
  'BLOCKED' THEN 'COMPLETE' WHEN 'PAUSED' THEN 'COMPLETE' WHEN 'PAUSED_BLOCKED' THEN 'COMPLETE' WHEN 'ERROR'
  THEN 'COMPLETE' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED', 'PAUSED', 'PAUSED_BLOCKED', 'ERROR')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.fail
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'ERROR' WHEN 'ACQUIRED' THEN 'ERROR' WHEN
  'BLOCKED' THEN 'ERROR' WHEN 'PAUSED' THEN 'ERROR' WHEN 'PAUSED_BLOCKED' THEN 'ERROR' WHEN 'COMPLETE' THEN
  'ERROR' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED', 'PAUSED', 'PAUSED_BLOCKED', 'COMPLETE')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'ERROR' WHEN 'ACQUIRED' THEN 'ERROR' WHEN
  'BLOCKED' THEN 'ERROR' WHEN 'PAUSED' THEN 'ERROR' WHEN 'PAUSED_BLOCKED' THEN 'ERROR' WHEN 'COMPLETE' THEN
  'ERROR' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED', 'PAUSED', 'PAUSED_BLOCKED', 'COMPLETE')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.reset
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ERROR' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('ERROR')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ERROR' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('ERROR')
RETURNING trigger_state, next_fire_time;

-- triggers.apply.revive
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/settling.ts (settleLockedJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'COMPLETE' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('COMPLETE')
RETURNING trigger_state, next_fire_time;

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'COMPLETE' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state IN ('COMPLETE')
RETURNING trigger_state, next_fire_time;

-- triggers.insertInto.simple_triggers
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_simple_triggers (sched_name, trigger_name, trigger_group, repeat_count, repeat_interval,
  moved_from, times_triggered)
VALUES (:scheduler, :trigger_name, :trigger_group, :repeat_count, :repeat_interval, :moved_from,
  :times_triggered);

-- PostgreSQL
INSERT INTO qrtz_simple_triggers (sched_name, trigger_name, trigger_group, repeat_count, repeat_interval,
  moved_from, times_triggered)
SELECT :scheduler, r.trigger_name, r.trigger_group, r.repeat_count, r.repeat_interval, r.moved_from,
  r.times_triggered
FROM (
  SELECT *
  FROM unnest(CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:repeat_count AS bigint[]),
    CAST(:repeat_interval AS bigint[]), CAST(:moved_from AS text[]),
    CAST(:times_triggered AS bigint[])) AS r (trigger_name, trigger_group, repeat_count, repeat_interval,
    moved_from, times_triggered)
) AS r
WHERE true;

-- triggers.insertInto.cron_triggers
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_cron_triggers (sched_name, trigger_name, trigger_group, cron_expression, time_zone_id,
  dst_policy, cron_dialect, times_triggered)
VALUES (:scheduler, :trigger_name, :trigger_group, :cron_expression, :time_zone_id, :dst_policy,
  :cron_dialect, :times_triggered);

-- PostgreSQL
INSERT INTO qrtz_cron_triggers (sched_name, trigger_name, trigger_group, cron_expression, time_zone_id,
  dst_policy, cron_dialect, times_triggered)
SELECT :scheduler, r.trigger_name, r.trigger_group, r.cron_expression, r.time_zone_id, r.dst_policy,
  r.cron_dialect, r.times_triggered
FROM (
  SELECT *
  FROM unnest(CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:cron_expression AS text[]),
    CAST(:time_zone_id AS text[]), CAST(:dst_policy AS text[]), CAST(:cron_dialect AS text[]),
    CAST(:times_triggered AS bigint[])) AS r (trigger_name, trigger_group, cron_expression, time_zone_id,
    dst_policy, cron_dialect, times_triggered)
) AS r
WHERE true;

-- triggers.insertInto.simprop_triggers
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_simprop_triggers (sched_name, trigger_name, trigger_group, str_prop_1, str_prop_2,
  str_prop_3, int_prop_1, long_prop_1, long_prop_2, bool_prop_1, bool_prop_2, time_zone_id, int_prop_2)
VALUES (:scheduler, :trigger_name, :trigger_group, :str_prop_1, :str_prop_2, :str_prop_3, :int_prop_1,
  :long_prop_1, :long_prop_2, :bool_prop_1, :bool_prop_2, :time_zone_id, :int_prop_2);

-- PostgreSQL
INSERT INTO qrtz_simprop_triggers (sched_name, trigger_name, trigger_group, str_prop_1, str_prop_2,
  str_prop_3, int_prop_1, long_prop_1, long_prop_2, bool_prop_1, bool_prop_2, time_zone_id, int_prop_2)
SELECT :scheduler, r.trigger_name, r.trigger_group, r.str_prop_1, r.str_prop_2, r.str_prop_3, r.int_prop_1,
  r.long_prop_1, r.long_prop_2, r.bool_prop_1, r.bool_prop_2, r.time_zone_id, r.int_prop_2
FROM (
  SELECT *
  FROM unnest(CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:str_prop_1 AS text[]),
    CAST(:str_prop_2 AS text[]), CAST(:str_prop_3 AS text[]), CAST(:int_prop_1 AS bigint[]),
    CAST(:long_prop_1 AS bigint[]), CAST(:long_prop_2 AS bigint[]), CAST(:bool_prop_1 AS boolean[]),
    CAST(:bool_prop_2 AS boolean[]), CAST(:time_zone_id AS text[]),
    CAST(:int_prop_2 AS bigint[])) AS r (trigger_name, trigger_group, str_prop_1, str_prop_2, str_prop_3,
    int_prop_1, long_prop_1, long_prop_2, bool_prop_1, bool_prop_2, time_zone_id, int_prop_2)
) AS r
WHERE true;

-- triggers.upsertInto.simple_triggers
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_simple_triggers (sched_name, trigger_name, trigger_group, repeat_count, repeat_interval,
  moved_from, times_triggered)
VALUES (:scheduler, :trigger_name, :trigger_group, :repeat_count, :repeat_interval, :moved_from,
  :times_triggered)
ON CONFLICT (sched_name, trigger_name, trigger_group) DO UPDATE SET repeat_count = excluded.repeat_count,
  repeat_interval = excluded.repeat_interval, moved_from = excluded.moved_from,
  times_triggered = excluded.times_triggered;

-- PostgreSQL
INSERT INTO qrtz_simple_triggers (sched_name, trigger_name, trigger_group, repeat_count, repeat_interval,
  moved_from, times_triggered)
SELECT :scheduler, r.trigger_name, r.trigger_group, r.repeat_count, r.repeat_interval, r.moved_from,
  r.times_triggered
FROM (
  SELECT *
  FROM unnest(CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:repeat_count AS bigint[]),
    CAST(:repeat_interval AS bigint[]), CAST(:moved_from AS text[]),
    CAST(:times_triggered AS bigint[])) AS r (trigger_name, trigger_group, repeat_count, repeat_interval,
    moved_from, times_triggered)
) AS r
WHERE true
ON CONFLICT (sched_name, trigger_name, trigger_group) DO UPDATE SET repeat_count = excluded.repeat_count,
  repeat_interval = excluded.repeat_interval, moved_from = excluded.moved_from,
  times_triggered = excluded.times_triggered;

-- triggers.upsertInto.cron_triggers
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_cron_triggers (sched_name, trigger_name, trigger_group, cron_expression, time_zone_id,
  dst_policy, cron_dialect, times_triggered)
VALUES (:scheduler, :trigger_name, :trigger_group, :cron_expression, :time_zone_id, :dst_policy,
  :cron_dialect, :times_triggered)
ON CONFLICT (sched_name, trigger_name,
  trigger_group) DO UPDATE SET cron_expression = excluded.cron_expression,
  time_zone_id = excluded.time_zone_id, dst_policy = excluded.dst_policy,
  cron_dialect = excluded.cron_dialect, times_triggered = excluded.times_triggered;

-- PostgreSQL
INSERT INTO qrtz_cron_triggers (sched_name, trigger_name, trigger_group, cron_expression, time_zone_id,
  dst_policy, cron_dialect, times_triggered)
SELECT :scheduler, r.trigger_name, r.trigger_group, r.cron_expression, r.time_zone_id, r.dst_policy,
  r.cron_dialect, r.times_triggered
FROM (
  SELECT *
  FROM unnest(CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:cron_expression AS text[]),
    CAST(:time_zone_id AS text[]), CAST(:dst_policy AS text[]), CAST(:cron_dialect AS text[]),
    CAST(:times_triggered AS bigint[])) AS r (trigger_name, trigger_group, cron_expression, time_zone_id,
    dst_policy, cron_dialect, times_triggered)
) AS r
WHERE true
ON CONFLICT (sched_name, trigger_name,
  trigger_group) DO UPDATE SET cron_expression = excluded.cron_expression,
  time_zone_id = excluded.time_zone_id, dst_policy = excluded.dst_policy,
  cron_dialect = excluded.cron_dialect, times_triggered = excluded.times_triggered;

-- triggers.upsertInto.simprop_triggers
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_simprop_triggers (sched_name, trigger_name, trigger_group, str_prop_1, str_prop_2,
  str_prop_3, int_prop_1, long_prop_1, long_prop_2, bool_prop_1, bool_prop_2, time_zone_id, int_prop_2)
VALUES (:scheduler, :trigger_name, :trigger_group, :str_prop_1, :str_prop_2, :str_prop_3, :int_prop_1,
  :long_prop_1, :long_prop_2, :bool_prop_1, :bool_prop_2, :time_zone_id, :int_prop_2)
ON CONFLICT (sched_name, trigger_name, trigger_group) DO UPDATE SET str_prop_1 = excluded.str_prop_1,
  str_prop_2 = excluded.str_prop_2, str_prop_3 = excluded.str_prop_3, int_prop_1 = excluded.int_prop_1,
  long_prop_1 = excluded.long_prop_1, long_prop_2 = excluded.long_prop_2, bool_prop_1 = excluded.bool_prop_1,
  bool_prop_2 = excluded.bool_prop_2, time_zone_id = excluded.time_zone_id, int_prop_2 = excluded.int_prop_2;

-- PostgreSQL
INSERT INTO qrtz_simprop_triggers (sched_name, trigger_name, trigger_group, str_prop_1, str_prop_2,
  str_prop_3, int_prop_1, long_prop_1, long_prop_2, bool_prop_1, bool_prop_2, time_zone_id, int_prop_2)
SELECT :scheduler, r.trigger_name, r.trigger_group, r.str_prop_1, r.str_prop_2, r.str_prop_3, r.int_prop_1,
  r.long_prop_1, r.long_prop_2, r.bool_prop_1, r.bool_prop_2, r.time_zone_id, r.int_prop_2
FROM (
  SELECT *
  FROM unnest(CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:str_prop_1 AS text[]),
    CAST(:str_prop_2 AS text[]), CAST(:str_prop_3 AS text[]), CAST(:int_prop_1 AS bigint[]),
    CAST(:long_prop_1 AS bigint[]), CAST(:long_prop_2 AS bigint[]), CAST(:bool_prop_1 AS boolean[]),
    CAST(:bool_prop_2 AS boolean[]), CAST(:time_zone_id AS text[]),
    CAST(:int_prop_2 AS bigint[])) AS r (trigger_name, trigger_group, str_prop_1, str_prop_2, str_prop_3,
    int_prop_1, long_prop_1, long_prop_2, bool_prop_1, bool_prop_2, time_zone_id, int_prop_2)
) AS r
WHERE true
ON CONFLICT (sched_name, trigger_name, trigger_group) DO UPDATE SET str_prop_1 = excluded.str_prop_1,
  str_prop_2 = excluded.str_prop_2, str_prop_3 = excluded.str_prop_3, int_prop_1 = excluded.int_prop_1,
  long_prop_1 = excluded.long_prop_1, long_prop_2 = excluded.long_prop_2, bool_prop_1 = excluded.bool_prop_1,
  bool_prop_2 = excluded.bool_prop_2, time_zone_id = excluded.time_zone_id, int_prop_2 = excluded.int_prop_2;

-- triggers.rewriteIn.simple_triggers
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_simple_triggers
SET repeat_count = :repeat_count, repeat_interval = :repeat_interval, moved_from = :moved_from,
  times_triggered = :times_triggered
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_simple_triggers AS t
SET repeat_count = r.repeat_count, repeat_interval = r.repeat_interval, moved_from = r.moved_from,
  times_triggered = r.times_triggered
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    repeat_count bigint, repeat_interval bigint, moved_from text, times_triggered bigint)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.rewriteIn.cron_triggers
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_cron_triggers
SET cron_expression = :cron_expression, time_zone_id = :time_zone_id, dst_policy = :dst_policy,
  cron_dialect = :cron_dialect, times_triggered = :times_triggered
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_cron_triggers AS t
SET cron_expression = r.cron_expression, time_zone_id = r.time_zone_id, dst_policy = r.dst_policy,
  cron_dialect = r.cron_dialect, times_triggered = r.times_triggered
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    cron_expression text, time_zone_id text, dst_policy text, cron_dialect text, times_triggered bigint)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.rewriteIn.simprop_triggers
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_simprop_triggers
SET str_prop_1 = :str_prop_1, str_prop_2 = :str_prop_2, str_prop_3 = :str_prop_3, int_prop_1 = :int_prop_1,
  long_prop_1 = :long_prop_1, long_prop_2 = :long_prop_2, bool_prop_1 = :bool_prop_1,
  bool_prop_2 = :bool_prop_2, time_zone_id = :time_zone_id, int_prop_2 = :int_prop_2
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_simprop_triggers AS t
SET str_prop_1 = r.str_prop_1, str_prop_2 = r.str_prop_2, str_prop_3 = r.str_prop_3,
  int_prop_1 = r.int_prop_1, long_prop_1 = r.long_prop_1, long_prop_2 = r.long_prop_2,
  bool_prop_1 = r.bool_prop_1, bool_prop_2 = r.bool_prop_2, time_zone_id = r.time_zone_id,
  int_prop_2 = r.int_prop_2
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    str_prop_1 text, str_prop_2 text, str_prop_3 text, int_prop_1 bigint, long_prop_1 bigint,
    long_prop_2 bigint, bool_prop_1 boolean, bool_prop_2 boolean, time_zone_id text, int_prop_2 bigint)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.countIn.simple_triggers
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/skipping.ts (skipNextFire)
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_simple_triggers
SET times_triggered = :times_triggered
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_simple_triggers AS t
SET times_triggered = r.times_triggered
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    times_triggered bigint)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.countIn.cron_triggers
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/skipping.ts (skipNextFire)
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_cron_triggers
SET times_triggered = :times_triggered
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_cron_triggers AS t
SET times_triggered = r.times_triggered
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    times_triggered bigint)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.countIn.simprop_triggers
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/skipping.ts (skipNextFire)
--   programs/steps/misfires.ts (treatRead)
-- SQLite
UPDATE qrtz_simprop_triggers
SET int_prop_2 = :int_prop_2
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_simprop_triggers AS t
SET int_prop_2 = r.int_prop_2
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    int_prop_2 bigint)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggers.deleteFrom.simple_triggers
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   programs/firing/completing.ts (completeJobs)
--   programs/firing/splitting.ts (splitFirings)
--   programs/scheduling/deleting.ts (deleteRefs)
--   programs/scheduling/planning.ts (putPlanned)
--   programs/scheduling/scheduling.ts (rescheduleTrigger)
--   programs/steps/new-triggers.ts (storeNewTriggers)
--   programs/steps/split-firings.ts (endLostItems)
-- SQLite
DELETE FROM qrtz_simple_triggers
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
DELETE FROM qrtz_simple_triggers AS t USING (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
  AND true;

-- triggers.deleteFrom.cron_triggers
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   programs/firing/completing.ts (completeJobs)
--   programs/firing/splitting.ts (splitFirings)
--   programs/scheduling/deleting.ts (deleteRefs)
--   programs/scheduling/planning.ts (putPlanned)
--   programs/scheduling/scheduling.ts (rescheduleTrigger)
--   programs/steps/new-triggers.ts (storeNewTriggers)
--   programs/steps/split-firings.ts (endLostItems)
-- SQLite
DELETE FROM qrtz_cron_triggers
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
DELETE FROM qrtz_cron_triggers AS t USING (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
  AND true;

-- triggers.deleteFrom.simprop_triggers
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   programs/firing/completing.ts (completeJobs)
--   programs/firing/splitting.ts (splitFirings)
--   programs/scheduling/deleting.ts (deleteRefs)
--   programs/scheduling/planning.ts (putPlanned)
--   programs/scheduling/scheduling.ts (rescheduleTrigger)
--   programs/steps/new-triggers.ts (storeNewTriggers)
--   programs/steps/split-firings.ts (endLostItems)
-- SQLite
DELETE FROM qrtz_simprop_triggers
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
DELETE FROM qrtz_simprop_triggers AS t USING (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
  AND true;

-- triggers.deleteFrom.blob_triggers
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   programs/firing/completing.ts (completeJobs)
--   programs/firing/splitting.ts (splitFirings)
--   programs/scheduling/deleting.ts (deleteRefs)
--   programs/scheduling/planning.ts (putPlanned)
--   programs/scheduling/scheduling.ts (rescheduleTrigger)
--   programs/steps/new-triggers.ts (storeNewTriggers)
--   programs/steps/split-firings.ts (endLostItems)
-- SQLite
DELETE FROM qrtz_blob_triggers
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- PostgreSQL
DELETE FROM qrtz_blob_triggers AS t USING (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
  AND true;

-- triggers.clear.simple_triggers
--   programs/scheduling/deleting.ts (clear)
-- Every engine
DELETE FROM qrtz_simple_triggers WHERE sched_name = :scheduler;

-- triggers.clear.cron_triggers
--   programs/scheduling/deleting.ts (clear)
-- Every engine
DELETE FROM qrtz_cron_triggers WHERE sched_name = :scheduler;

-- triggers.clear.simprop_triggers
--   programs/scheduling/deleting.ts (clear)
-- Every engine
DELETE FROM qrtz_simprop_triggers WHERE sched_name = :scheduler;

-- triggers.clear.blob_triggers
--   programs/scheduling/deleting.ts (clear)
-- Every engine
DELETE FROM qrtz_blob_triggers WHERE sched_name = :scheduler;

-- triggers.clear.triggers
--   programs/scheduling/deleting.ts (clear)
-- Every engine
DELETE FROM qrtz_triggers WHERE sched_name = :scheduler;

-- triggers.due.lock: while only simple triggers are found
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, j.job_class_name, j.is_durable, j.is_nonconcurrent,
  j.is_update_data, j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan,
  j.description AS job_description, j.job_data AS data_of_job, j.node_affinity AS affinity_of_job,
  COALESCE(t.node_affinity, j.node_affinity) AS node_affinity, t.rowid AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = t.sched_name
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = t.sched_name
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > 0
  AND true
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = f.sched_name
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, j.job_class_name, j.is_durable, j.is_nonconcurrent,
  j.is_update_data, j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan,
  j.description AS job_description, j.job_data AS data_of_job, j.node_affinity AS affinity_of_job,
  COALESCE(t.node_affinity, j.node_affinity) AS node_affinity, CAST(t.ctid AS text) AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = ANY(ARRAY[t.sched_name])
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > 0
  AND COALESCE(found.id = t.ctid, false)
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = ANY(ARRAY[f.sched_name])
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t SKIP LOCKED;

-- PostgreSQL, quartzLocks
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, j.job_class_name, j.is_durable, j.is_nonconcurrent,
  j.is_update_data, j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan,
  j.description AS job_description, j.job_data AS data_of_job, j.node_affinity AS affinity_of_job,
  COALESCE(t.node_affinity, j.node_affinity) AS node_affinity, CAST(t.ctid AS text) AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = ANY(ARRAY[t.sched_name])
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > 0
  AND COALESCE(found.id = t.ctid, false)
  AND NOT (
    (
      t.trigger_name !~
        E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.trigger_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
    )
      OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
      OR (
        (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
          OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
      )
      OR (
        t.calendar_name IS NOT NULL
          AND (
            SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
            FROM qrtz_calendars AS k
            WHERE k.sched_name = t.sched_name
              AND k.calendar_name = t.calendar_name
          ) IS TRUE
      )
  )
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = ANY(ARRAY[f.sched_name])
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t SKIP LOCKED;

-- triggers.due.lock: with no condition besides the time
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.is_update_data,
  j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan, j.description AS job_description,
  j.job_data AS data_of_job, j.node_affinity AS affinity_of_job, COALESCE(t.node_affinity,
  j.node_affinity) AS node_affinity, t.rowid AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = t.sched_name
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = t.sched_name
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = t.sched_name
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = t.sched_name
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > 0
  AND true
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = f.sched_name
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.is_update_data,
  j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan, j.description AS job_description,
  j.job_data AS data_of_job, j.node_affinity AS affinity_of_job, COALESCE(t.node_affinity,
  j.node_affinity) AS node_affinity, CAST(t.ctid AS text) AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = ANY(ARRAY[t.sched_name])
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = ANY(ARRAY[t.sched_name])
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = ANY(ARRAY[t.sched_name])
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
  CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > 0
  AND COALESCE(found.id = t.ctid, false)
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = ANY(ARRAY[f.sched_name])
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t SKIP LOCKED;

-- PostgreSQL, quartzLocks
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.is_update_data,
  j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan, j.description AS job_description,
  j.job_data AS data_of_job, j.node_affinity AS affinity_of_job, COALESCE(t.node_affinity,
  j.node_affinity) AS node_affinity, CAST(t.ctid AS text) AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = ANY(ARRAY[t.sched_name])
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = ANY(ARRAY[t.sched_name])
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = ANY(ARRAY[t.sched_name])
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
  CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > 0
  AND COALESCE(found.id = t.ctid, false)
  AND NOT (
    (
      t.trigger_name !~
        E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.trigger_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
    )
      OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
      OR (
        (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
          OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
      )
      OR (
        t.calendar_name IS NOT NULL
          AND (
            SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
            FROM qrtz_calendars AS k
            WHERE k.sched_name = t.sched_name
              AND k.calendar_name = t.calendar_name
          ) IS TRUE
      )
  )
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = ANY(ARRAY[f.sched_name])
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t SKIP LOCKED;

-- triggers.due.lock: with every condition that a search may have
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.is_update_data,
  j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan, j.description AS job_description,
  j.job_data AS data_of_job, j.node_affinity AS affinity_of_job, COALESCE(t.node_affinity,
  j.node_affinity) AS node_affinity, t.rowid AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = t.sched_name
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = t.sched_name
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = t.sched_name
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = t.sched_name
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > :afterMs
  AND j.job_class_name NOT IN (
    SELECT r.job_type FROM (SELECT value ->> 'job_type' AS job_type FROM json_each(:types)) AS r
  )
  AND (
    j.node_affinity IS NULL
      OR NOT (
        (
          substr(j.node_affinity, 1, length('[true,"')) = '[true,"'
            OR substr(j.node_affinity, 1, length('[false,"')) = '[false,"'
        )
          AND ('"]' = '' OR substr(j.node_affinity, -length('"]')) = '"]')
      )
      OR instr(j.node_affinity, :node) > 0
      OR (
        substr(j.node_affinity, 1, length('[false')) = '[false'
          AND NOT EXISTS (
            SELECT 1
            FROM qrtz_scheduler_state AS s
            WHERE s.sched_name = :scheduler
              AND instr(j.node_affinity, ('"' || s.instance_name || '"')) > 0
          )
      )
  )
  AND (
    t.node_affinity IS NULL
      OR NOT (
        (
          substr(t.node_affinity, 1, length('[true,"')) = '[true,"'
            OR substr(t.node_affinity, 1, length('[false,"')) = '[false,"'
        )
          AND ('"]' = '' OR substr(t.node_affinity, -length('"]')) = '"]')
      )
      OR instr(t.node_affinity, :node) > 0
      OR (
        substr(t.node_affinity, 1, length('[false')) = '[false'
          AND NOT EXISTS (
            SELECT 1
            FROM qrtz_scheduler_state AS s
            WHERE s.sched_name = :scheduler
              AND instr(t.node_affinity, ('"' || s.instance_name || '"')) > 0
          )
      )
      OR (substr(t.node_affinity, 1, length('[false')) = '[false' AND t.next_fire_time <= :ownersUntilMs)
  )
  AND t.job_group NOT IN (
    SELECT g.job_group FROM (SELECT value ->> 'job_group' AS job_group FROM json_each(:groups)) AS g
  )
  AND (t.job_name, t.job_group) NOT IN (
    SELECT l.job_name, l.job_group
    FROM (
      SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group FROM json_each(:jobs)
    ) AS l
  )
  AND (t.trigger_name, t.trigger_group) NOT IN (
    SELECT l.trigger_name, l.trigger_group
    FROM (
      SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS trigger_group
      FROM json_each(:triggers)
    ) AS l
  )
  AND NOT (
    (
      t.trigger_type IN ('CRON')
        AND EXISTS (
          SELECT 1
          FROM qrtz_cron_triggers AS c
          WHERE c.sched_name = t.sched_name
            AND c.trigger_name = t.trigger_name
            AND c.trigger_group = t.trigger_group
            AND c.dst_policy IS NULL
            AND c.cron_dialect IS NULL
            AND (
              c.time_zone_id IN (
                SELECT u.zone
                FROM (
                  SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression
                  FROM json_each(:unread)
                ) AS u
                WHERE u.zone IS NOT NULL
              )
                OR c.cron_expression IN (
                  SELECT u.expression
                  FROM (
                    SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression
                    FROM json_each(:unread)
                  ) AS u
                  WHERE u.expression IS NOT NULL
                )
            )
        )
    )
      OR (
        t.trigger_type IN ('CAL_INT', 'DAILY_I')
          AND EXISTS (
            SELECT 1
            FROM qrtz_simprop_triggers AS p
            WHERE p.sched_name = t.sched_name
              AND p.trigger_name = t.trigger_name
              AND p.trigger_group = t.trigger_group
              AND p.time_zone_id IS NULL
              AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT value ->> 'zone' AS zone,
                value ->> 'expression' AS expression FROM json_each(:unread)) AS u WHERE u.zone IS NOT NULL))
          )
      )
  )
  AND true
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = f.sched_name
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.is_update_data,
  j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan, j.description AS job_description,
  j.job_data AS data_of_job, j.node_affinity AS affinity_of_job, COALESCE(t.node_affinity,
  j.node_affinity) AS node_affinity, CAST(t.ctid AS text) AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = ANY(ARRAY[t.sched_name])
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = ANY(ARRAY[t.sched_name])
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = ANY(ARRAY[t.sched_name])
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
  CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > :afterMs
  AND j.job_class_name NOT IN (
    SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json)) AS r(job_type text)) AS r
  )
  AND (
    j.node_affinity IS NULL
      OR NOT (
        (
          starts_with(j.node_affinity, CAST('[true,"' AS text))
            OR starts_with(j.node_affinity, CAST('[false,"' AS text))
        )
          AND right(j.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
      )
      OR strpos(j.node_affinity, CAST(:node AS text)) > 0
      OR (
        starts_with(j.node_affinity, CAST('[false' AS text))
          AND NOT EXISTS (
            SELECT 1
            FROM qrtz_scheduler_state AS s
            WHERE s.sched_name = :scheduler
              AND strpos(j.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
          )
      )
  )
  AND (
    t.node_affinity IS NULL
      OR NOT (
        (
          starts_with(t.node_affinity, CAST('[true,"' AS text))
            OR starts_with(t.node_affinity, CAST('[false,"' AS text))
        )
          AND right(t.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
      )
      OR strpos(t.node_affinity, CAST(:node AS text)) > 0
      OR (
        starts_with(t.node_affinity, CAST('[false' AS text))
          AND NOT EXISTS (
            SELECT 1
            FROM qrtz_scheduler_state AS s
            WHERE s.sched_name = :scheduler
              AND strpos(t.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
          )
      )
      OR (starts_with(t.node_affinity, CAST('[false' AS text)) AND t.next_fire_time <= :ownersUntilMs)
  )
  AND t.job_group NOT IN (
    SELECT g.job_group FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g
  )
  AND (t.job_name, t.job_group) NOT IN (
    SELECT l.job_name, l.job_group
    FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text, job_group text)) AS l
  )
  AND (t.trigger_name, t.trigger_group) NOT IN (
    SELECT l.trigger_name, l.trigger_group
    FROM (
      SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text, trigger_group text)
    ) AS l
  )
  AND NOT (
    (
      t.trigger_type IN ('CRON')
        AND EXISTS (
          SELECT 1
          FROM qrtz_cron_triggers AS c
          WHERE c.sched_name = ANY(ARRAY[t.sched_name])
            AND c.trigger_name = t.trigger_name
            AND c.trigger_group = t.trigger_group
            AND c.dst_policy IS NULL
            AND c.cron_dialect IS NULL
            AND (
              c.time_zone_id IN (
                SELECT u.zone
                FROM (
                  SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                ) AS u
                WHERE u.zone IS NOT NULL
              )
                OR c.cron_expression IN (
                  SELECT u.expression
                  FROM (
                    SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                  ) AS u
                  WHERE u.expression IS NOT NULL
                )
            ) OFFSET 0
        )
    )
      OR (
        t.trigger_type IN ('CAL_INT', 'DAILY_I')
          AND EXISTS (
            SELECT 1
            FROM qrtz_simprop_triggers AS p
            WHERE p.sched_name = ANY(ARRAY[t.sched_name])
              AND p.trigger_name = t.trigger_name
              AND p.trigger_group = t.trigger_group
              AND p.time_zone_id IS NULL
              AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json))
                AS r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL)) OFFSET 0
          )
      )
  )
  AND COALESCE(found.id = t.ctid, false)
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = ANY(ARRAY[f.sched_name])
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t SKIP LOCKED;

-- PostgreSQL, quartzLocks
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description, t.next_fire_time,
  t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time, t.calendar_name,
  t.misfire_instr, t.job_data, t.misfire_orig_fire_time, s.trigger_name AS s_trigger_name,
  s.repeat_count AS s_repeat_count, s.repeat_interval AS s_repeat_interval, s.moved_from AS s_moved_from,
  s.times_triggered AS s_times_triggered, c.trigger_name AS c_trigger_name,
  c.cron_expression AS c_cron_expression, c.time_zone_id AS c_time_zone_id, c.dst_policy AS c_dst_policy,
  c.cron_dialect AS c_cron_dialect, c.times_triggered AS c_times_triggered, p.trigger_name AS p_trigger_name,
  p.str_prop_1 AS p_str_prop_1, p.str_prop_2 AS p_str_prop_2, p.str_prop_3 AS p_str_prop_3,
  p.int_prop_1 AS p_int_prop_1, p.long_prop_1 AS p_long_prop_1, p.long_prop_2 AS p_long_prop_2,
  p.bool_prop_1 AS p_bool_prop_1, p.bool_prop_2 AS p_bool_prop_2, p.time_zone_id AS p_time_zone_id,
  p.int_prop_2 AS p_int_prop_2, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.is_update_data,
  j.requests_recovery, j.timeout_ms, j.retry_policy, j.sharding, j.job_plan, j.description AS job_description,
  j.job_data AS data_of_job, j.node_affinity AS affinity_of_job, COALESCE(t.node_affinity,
  j.node_affinity) AS node_affinity, CAST(t.ctid AS text) AS row_id
FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_simple_triggers AS s ON s.sched_name = ANY(ARRAY[t.sched_name])
    AND s.trigger_name = t.trigger_name
    AND s.trigger_group = t.trigger_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = ANY(ARRAY[t.sched_name])
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = ANY(ARRAY[t.sched_name])
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
  CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time <= :untilMs
  AND t.next_fire_time > :afterMs
  AND j.job_class_name NOT IN (
    SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json)) AS r(job_type text)) AS r
  )
  AND (
    j.node_affinity IS NULL
      OR NOT (
        (
          starts_with(j.node_affinity, CAST('[true,"' AS text))
            OR starts_with(j.node_affinity, CAST('[false,"' AS text))
        )
          AND right(j.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
      )
      OR strpos(j.node_affinity, CAST(:node AS text)) > 0
      OR (
        starts_with(j.node_affinity, CAST('[false' AS text))
          AND NOT EXISTS (
            SELECT 1
            FROM qrtz_scheduler_state AS s
            WHERE s.sched_name = :scheduler
              AND strpos(j.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
          )
      )
  )
  AND (
    t.node_affinity IS NULL
      OR NOT (
        (
          starts_with(t.node_affinity, CAST('[true,"' AS text))
            OR starts_with(t.node_affinity, CAST('[false,"' AS text))
        )
          AND right(t.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
      )
      OR strpos(t.node_affinity, CAST(:node AS text)) > 0
      OR (
        starts_with(t.node_affinity, CAST('[false' AS text))
          AND NOT EXISTS (
            SELECT 1
            FROM qrtz_scheduler_state AS s
            WHERE s.sched_name = :scheduler
              AND strpos(t.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
          )
      )
      OR (starts_with(t.node_affinity, CAST('[false' AS text)) AND t.next_fire_time <= :ownersUntilMs)
  )
  AND t.job_group NOT IN (
    SELECT g.job_group FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g
  )
  AND (t.job_name, t.job_group) NOT IN (
    SELECT l.job_name, l.job_group
    FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text, job_group text)) AS l
  )
  AND (t.trigger_name, t.trigger_group) NOT IN (
    SELECT l.trigger_name, l.trigger_group
    FROM (
      SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text, trigger_group text)
    ) AS l
  )
  AND NOT (
    (
      t.trigger_type IN ('CRON')
        AND EXISTS (
          SELECT 1
          FROM qrtz_cron_triggers AS c
          WHERE c.sched_name = ANY(ARRAY[t.sched_name])
            AND c.trigger_name = t.trigger_name
            AND c.trigger_group = t.trigger_group
            AND c.dst_policy IS NULL
            AND c.cron_dialect IS NULL
            AND (
              c.time_zone_id IN (
                SELECT u.zone
                FROM (
                  SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                ) AS u
                WHERE u.zone IS NOT NULL
              )
                OR c.cron_expression IN (
                  SELECT u.expression
                  FROM (
                    SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                  ) AS u
                  WHERE u.expression IS NOT NULL
                )
            ) OFFSET 0
        )
    )
      OR (
        t.trigger_type IN ('CAL_INT', 'DAILY_I')
          AND EXISTS (
            SELECT 1
            FROM qrtz_simprop_triggers AS p
            WHERE p.sched_name = ANY(ARRAY[t.sched_name])
              AND p.trigger_name = t.trigger_name
              AND p.trigger_group = t.trigger_group
              AND p.time_zone_id IS NULL
              AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json))
                AS r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL)) OFFSET 0
          )
      )
  )
  AND COALESCE(found.id = t.ctid, false)
  AND NOT (
    (
      t.trigger_name !~
        E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.trigger_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
    )
      OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
      OR (
        (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
          OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
      )
      OR (
        t.calendar_name IS NOT NULL
          AND (
            SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
            FROM qrtz_calendars AS k
            WHERE k.sched_name = t.sched_name
              AND k.calendar_name = t.calendar_name
          ) IS TRUE
      )
  )
  AND (
    NOT COALESCE(j.is_nonconcurrent, false)
      OR (t.job_name, t.job_group) NOT IN (
        SELECT f.job_name, f.job_group
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NOT NULL
          AND f.job_group IS NOT NULL
        UNION ALL
        SELECT a.job_name, a.job_group
        FROM qrtz_fired_triggers AS f
          CROSS JOIN qrtz_triggers AS a
        WHERE f.sched_name = :scheduler
          AND f.job_name IS NULL
          AND a.sched_name = ANY(ARRAY[f.sched_name])
          AND a.trigger_name = f.trigger_name
          AND a.trigger_group = f.trigger_group
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t SKIP LOCKED;

-- triggers.due.types: with no condition besides the time
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT DISTINCT r.job_class_name
FROM (
  SELECT j.job_class_name
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > 0
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = f.sched_name
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name
  LIMIT :limit
) AS r;

-- PostgreSQL
SELECT DISTINCT r.job_class_name
FROM (
  SELECT j.job_class_name
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > 0
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = ANY(ARRAY[f.sched_name])
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C"
  LIMIT :limit
) AS r;

-- PostgreSQL, quartzLocks
SELECT DISTINCT r.job_class_name
FROM (
  SELECT j.job_class_name
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > 0
    AND NOT (
      (
        t.trigger_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.trigger_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_name !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
      )
        OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
        OR (
          (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
            OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
        )
        OR (
          t.calendar_name IS NOT NULL
            AND (
              SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
              FROM qrtz_calendars AS k
              WHERE k.sched_name = t.sched_name
                AND k.calendar_name = t.calendar_name
            ) IS TRUE
        )
    )
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = ANY(ARRAY[f.sched_name])
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C"
  LIMIT :limit
) AS r;

-- triggers.due.types: with every condition that a search may have
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT DISTINCT r.job_class_name
FROM (
  SELECT j.job_class_name
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > :afterMs
    AND j.job_class_name NOT IN (
      SELECT r.job_type FROM (SELECT value ->> 'job_type' AS job_type FROM json_each(:types)) AS r
    )
    AND (
      j.node_affinity IS NULL
        OR NOT (
          (
            substr(j.node_affinity, 1, length('[true,"')) = '[true,"'
              OR substr(j.node_affinity, 1, length('[false,"')) = '[false,"'
          )
            AND ('"]' = '' OR substr(j.node_affinity, -length('"]')) = '"]')
        )
        OR instr(j.node_affinity, :node) > 0
        OR (
          substr(j.node_affinity, 1, length('[false')) = '[false'
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND instr(j.node_affinity, ('"' || s.instance_name || '"')) > 0
            )
        )
    )
    AND (
      t.node_affinity IS NULL
        OR NOT (
          (
            substr(t.node_affinity, 1, length('[true,"')) = '[true,"'
              OR substr(t.node_affinity, 1, length('[false,"')) = '[false,"'
          )
            AND ('"]' = '' OR substr(t.node_affinity, -length('"]')) = '"]')
        )
        OR instr(t.node_affinity, :node) > 0
        OR (
          substr(t.node_affinity, 1, length('[false')) = '[false'
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND instr(t.node_affinity, ('"' || s.instance_name || '"')) > 0
            )
        )
        OR (substr(t.node_affinity, 1, length('[false')) = '[false' AND t.next_fire_time <= :ownersUntilMs)
    )
    AND t.job_group NOT IN (
      SELECT g.job_group FROM (SELECT value ->> 'job_group' AS job_group FROM json_each(:groups)) AS g
    )
    AND (t.job_name, t.job_group) NOT IN (
      SELECT l.job_name, l.job_group
      FROM (
        SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group FROM json_each(:jobs)
      ) AS l
    )
    AND (t.trigger_name, t.trigger_group) NOT IN (
      SELECT l.trigger_name, l.trigger_group
      FROM (
        SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS trigger_group
        FROM json_each(:triggers)
      ) AS l
    )
    AND NOT (
      (
        t.trigger_type IN ('CRON')
          AND EXISTS (
            SELECT 1
            FROM qrtz_cron_triggers AS c
            WHERE c.sched_name = t.sched_name
              AND c.trigger_name = t.trigger_name
              AND c.trigger_group = t.trigger_group
              AND c.dst_policy IS NULL
              AND c.cron_dialect IS NULL
              AND (
                c.time_zone_id IN (
                  SELECT u.zone
                  FROM (
                    SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression
                    FROM json_each(:unread)
                  ) AS u
                  WHERE u.zone IS NOT NULL
                )
                  OR c.cron_expression IN (
                    SELECT u.expression
                    FROM (
                      SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression
                      FROM json_each(:unread)
                    ) AS u
                    WHERE u.expression IS NOT NULL
                  )
              )
          )
      )
        OR (
          t.trigger_type IN ('CAL_INT', 'DAILY_I')
            AND EXISTS (
              SELECT 1
              FROM qrtz_simprop_triggers AS p
              WHERE p.sched_name = t.sched_name
                AND p.trigger_name = t.trigger_name
                AND p.trigger_group = t.trigger_group
                AND p.time_zone_id IS NULL
                AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT value ->> 'zone' AS zone, value ->>
                  'expression' AS expression FROM json_each(:unread)) AS u WHERE u.zone IS NOT NULL))
            )
        )
    )
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = f.sched_name
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name
  LIMIT :limit
) AS r;

-- PostgreSQL
SELECT DISTINCT r.job_class_name
FROM (
  SELECT j.job_class_name
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > :afterMs
    AND j.job_class_name NOT IN (
      SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json)) AS r(job_type text)) AS r
    )
    AND (
      j.node_affinity IS NULL
        OR NOT (
          (
            starts_with(j.node_affinity, CAST('[true,"' AS text))
              OR starts_with(j.node_affinity, CAST('[false,"' AS text))
          )
            AND right(j.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
        )
        OR strpos(j.node_affinity, CAST(:node AS text)) > 0
        OR (
          starts_with(j.node_affinity, CAST('[false' AS text))
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND strpos(j.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
            )
        )
    )
    AND (
      t.node_affinity IS NULL
        OR NOT (
          (
            starts_with(t.node_affinity, CAST('[true,"' AS text))
              OR starts_with(t.node_affinity, CAST('[false,"' AS text))
          )
            AND right(t.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
        )
        OR strpos(t.node_affinity, CAST(:node AS text)) > 0
        OR (
          starts_with(t.node_affinity, CAST('[false' AS text))
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND strpos(t.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
            )
        )
        OR (starts_with(t.node_affinity, CAST('[false' AS text)) AND t.next_fire_time <= :ownersUntilMs)
    )
    AND t.job_group NOT IN (
      SELECT g.job_group
      FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g
    )
    AND (t.job_name, t.job_group) NOT IN (
      SELECT l.job_name, l.job_group
      FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text, job_group text)) AS l
    )
    AND (t.trigger_name, t.trigger_group) NOT IN (
      SELECT l.trigger_name, l.trigger_group
      FROM (
        SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text, trigger_group text)
      ) AS l
    )
    AND NOT (
      (
        t.trigger_type IN ('CRON')
          AND EXISTS (
            SELECT 1
            FROM qrtz_cron_triggers AS c
            WHERE c.sched_name = ANY(ARRAY[t.sched_name])
              AND c.trigger_name = t.trigger_name
              AND c.trigger_group = t.trigger_group
              AND c.dst_policy IS NULL
              AND c.cron_dialect IS NULL
              AND (
                c.time_zone_id IN (
                  SELECT u.zone
                  FROM (
                    SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                  ) AS u
                  WHERE u.zone IS NOT NULL
                )
                  OR c.cron_expression IN (
                    SELECT u.expression
                    FROM (
                      SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                    ) AS u
                    WHERE u.expression IS NOT NULL
                  )
              ) OFFSET 0
          )
      )
        OR (
          t.trigger_type IN ('CAL_INT', 'DAILY_I')
            AND EXISTS (
              SELECT 1
              FROM qrtz_simprop_triggers AS p
              WHERE p.sched_name = ANY(ARRAY[t.sched_name])
                AND p.trigger_name = t.trigger_name
                AND p.trigger_group = t.trigger_group
                AND p.time_zone_id IS NULL
                AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM json_to_recordset(CAST(:unread AS
                  json)) AS r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL)) OFFSET 0
            )
        )
    )
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = ANY(ARRAY[f.sched_name])
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C"
  LIMIT :limit
) AS r;

-- PostgreSQL, quartzLocks
SELECT DISTINCT r.job_class_name
FROM (
  SELECT j.job_class_name
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > :afterMs
    AND j.job_class_name NOT IN (
      SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json)) AS r(job_type text)) AS r
    )
    AND (
      j.node_affinity IS NULL
        OR NOT (
          (
            starts_with(j.node_affinity, CAST('[true,"' AS text))
              OR starts_with(j.node_affinity, CAST('[false,"' AS text))
          )
            AND right(j.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
        )
        OR strpos(j.node_affinity, CAST(:node AS text)) > 0
        OR (
          starts_with(j.node_affinity, CAST('[false' AS text))
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND strpos(j.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
            )
        )
    )
    AND (
      t.node_affinity IS NULL
        OR NOT (
          (
            starts_with(t.node_affinity, CAST('[true,"' AS text))
              OR starts_with(t.node_affinity, CAST('[false,"' AS text))
          )
            AND right(t.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
        )
        OR strpos(t.node_affinity, CAST(:node AS text)) > 0
        OR (
          starts_with(t.node_affinity, CAST('[false' AS text))
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND strpos(t.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
            )
        )
        OR (starts_with(t.node_affinity, CAST('[false' AS text)) AND t.next_fire_time <= :ownersUntilMs)
    )
    AND t.job_group NOT IN (
      SELECT g.job_group
      FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g
    )
    AND (t.job_name, t.job_group) NOT IN (
      SELECT l.job_name, l.job_group
      FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text, job_group text)) AS l
    )
    AND (t.trigger_name, t.trigger_group) NOT IN (
      SELECT l.trigger_name, l.trigger_group
      FROM (
        SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text, trigger_group text)
      ) AS l
    )
    AND NOT (
      (
        t.trigger_type IN ('CRON')
          AND EXISTS (
            SELECT 1
            FROM qrtz_cron_triggers AS c
            WHERE c.sched_name = ANY(ARRAY[t.sched_name])
              AND c.trigger_name = t.trigger_name
              AND c.trigger_group = t.trigger_group
              AND c.dst_policy IS NULL
              AND c.cron_dialect IS NULL
              AND (
                c.time_zone_id IN (
                  SELECT u.zone
                  FROM (
                    SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                  ) AS u
                  WHERE u.zone IS NOT NULL
                )
                  OR c.cron_expression IN (
                    SELECT u.expression
                    FROM (
                      SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                    ) AS u
                    WHERE u.expression IS NOT NULL
                  )
              ) OFFSET 0
          )
      )
        OR (
          t.trigger_type IN ('CAL_INT', 'DAILY_I')
            AND EXISTS (
              SELECT 1
              FROM qrtz_simprop_triggers AS p
              WHERE p.sched_name = ANY(ARRAY[t.sched_name])
                AND p.trigger_name = t.trigger_name
                AND p.trigger_group = t.trigger_group
                AND p.time_zone_id IS NULL
                AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM json_to_recordset(CAST(:unread AS
                  json)) AS r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL)) OFFSET 0
            )
        )
    )
    AND NOT (
      (
        t.trigger_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.trigger_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_name !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
      )
        OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
        OR (
          (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
            OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
        )
        OR (
          t.calendar_name IS NOT NULL
            AND (
              SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
              FROM qrtz_calendars AS k
              WHERE k.sched_name = t.sched_name
                AND k.calendar_name = t.calendar_name
            ) IS TRUE
        )
    )
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = ANY(ARRAY[f.sched_name])
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C"
  LIMIT :limit
) AS r;

-- triggers.due.look: with no condition besides the time
--   programs/firing/next-look.ts (nextLook)
--   programs/reading/reading.ts (earliestDueMs)
-- SQLite
SELECT (
  SELECT t.next_fire_time
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > 0
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = f.sched_name
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name
  LIMIT :limit
) AS waiting_time, (SELECT min(CASE WHEN t.next_fire_time > f.fired_time THEN t.next_fire_time ELSE
  f.fired_time END) FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS t WHERE f.sched_name =
  :scheduler AND f.state = 'ACQUIRED' AND f.instance_name <> :instance AND t.sched_name = f.sched_name AND
  t.trigger_name = f.trigger_name AND t.trigger_group = f.trigger_group AND t.trigger_state = 'ACQUIRED') AS
  claimed_time;

-- PostgreSQL
SELECT (
  SELECT t.next_fire_time
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > 0
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = ANY(ARRAY[f.sched_name])
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C"
  LIMIT :limit
) AS waiting_time, (SELECT min(CASE WHEN t.next_fire_time > f.fired_time THEN t.next_fire_time ELSE
  f.fired_time END) FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS t WHERE f.sched_name =
  :scheduler AND f.state = 'ACQUIRED' AND f.instance_name <> :instance AND t.sched_name =
  ANY(ARRAY[f.sched_name]) AND t.trigger_name = f.trigger_name AND t.trigger_group = f.trigger_group AND
  t.trigger_state = 'ACQUIRED') AS claimed_time;

-- PostgreSQL, quartzLocks
SELECT (
  SELECT t.next_fire_time
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > 0
    AND NOT (
      (
        t.trigger_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.trigger_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_name !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
      )
        OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
        OR (
          (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
            OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
        )
        OR (
          t.calendar_name IS NOT NULL
            AND (
              SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
              FROM qrtz_calendars AS k
              WHERE k.sched_name = t.sched_name
                AND k.calendar_name = t.calendar_name
            ) IS TRUE
        )
    )
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = ANY(ARRAY[f.sched_name])
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C"
  LIMIT :limit
) AS waiting_time, (SELECT min(CASE WHEN t.next_fire_time > f.fired_time THEN t.next_fire_time ELSE
  f.fired_time END) FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS t WHERE f.sched_name =
  :scheduler AND f.state = 'ACQUIRED' AND f.instance_name <> :instance AND t.sched_name =
  ANY(ARRAY[f.sched_name]) AND t.trigger_name = f.trigger_name AND t.trigger_group = f.trigger_group AND
  t.trigger_state = 'ACQUIRED') AS claimed_time;

-- triggers.due.look: with every condition that a search may have
--   programs/firing/next-look.ts (nextLook)
--   programs/reading/reading.ts (earliestDueMs)
-- SQLite
SELECT (SELECT t.next_fire_time FROM qrtz_triggers AS t LEFT JOIN qrtz_job_details AS j ON j.sched_name =
  t.sched_name AND j.job_name = t.job_name AND j.job_group = t.job_group WHERE t.sched_name = :scheduler AND
  t.trigger_state = 'WAITING' AND t.next_fire_time <= :untilMs AND t.next_fire_time > :afterMs AND
  j.job_class_name NOT IN (SELECT r.job_type FROM (SELECT value ->> 'job_type' AS job_type FROM
  json_each(:types)) AS r) AND (j.node_affinity IS NULL OR NOT ((substr(j.node_affinity, 1,
  length('[true,"')) = '[true,"' OR substr(j.node_affinity, 1,
  length('[false,"')) = '[false,"') AND ('"]' = '' OR substr(j.node_affinity,
  -length('"]')) = '"]')) OR instr(j.node_affinity, :node) > 0 OR (substr(j.node_affinity, 1,
  length('[false')) = '[false' AND NOT EXISTS (SELECT 1 FROM qrtz_scheduler_state AS s WHERE s.sched_name =
  :scheduler AND instr(j.node_affinity,
  ('"' || s.instance_name || '"')) > 0))) AND (t.node_affinity IS NULL OR NOT ((substr(t.node_affinity, 1,
  length('[true,"')) = '[true,"' OR substr(t.node_affinity, 1,
  length('[false,"')) = '[false,"') AND ('"]' = '' OR substr(t.node_affinity,
  -length('"]')) = '"]')) OR instr(t.node_affinity, :node) > 0 OR (substr(t.node_affinity, 1,
  length('[false')) = '[false' AND NOT EXISTS (SELECT 1 FROM qrtz_scheduler_state AS s WHERE s.sched_name =
  :scheduler AND instr(t.node_affinity, ('"' || s.instance_name || '"')) > 0)) OR (substr(t.node_affinity, 1,
  length('[false')) = '[false' AND t.next_fire_time <= :ownersUntilMs)) AND t.job_group NOT IN (SELECT
  g.job_group FROM (SELECT value ->> 'job_group' AS job_group FROM json_each(:groups)) AS g) AND (t.job_name,
  t.job_group) NOT IN (SELECT l.job_name, l.job_group FROM (SELECT value ->> 'job_name' AS job_name,
  value ->> 'job_group' AS job_group FROM json_each(:jobs)) AS l) AND (t.trigger_name,
  t.trigger_group) NOT IN (SELECT l.trigger_name,
  l.trigger_group FROM (SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS
  trigger_group FROM json_each(:triggers)) AS l) AND NOT ((t.trigger_type IN ('CRON') AND EXISTS (SELECT 1
  FROM qrtz_cron_triggers AS c WHERE c.sched_name = t.sched_name AND c.trigger_name = t.trigger_name AND
  c.trigger_group = t.trigger_group AND c.dst_policy IS NULL AND c.cron_dialect IS NULL AND (c.time_zone_id IN
  (SELECT u.zone FROM (SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression FROM
  json_each(:unread)) AS u WHERE u.zone IS NOT NULL) OR c.cron_expression IN (SELECT u.expression FROM (SELECT
  value ->> 'zone' AS zone, value ->> 'expression' AS expression FROM json_each(:unread)) AS u WHERE
  u.expression IS NOT NULL)) )) OR (t.trigger_type IN ('CAL_INT', 'DAILY_I') AND EXISTS (SELECT 1 FROM
  qrtz_simprop_triggers AS p WHERE p.sched_name = t.sched_name AND p.trigger_name = t.trigger_name AND
  p.trigger_group = t.trigger_group AND p.time_zone_id IS NULL AND (p.str_prop_2 IN (SELECT u.zone FROM
  (SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression FROM json_each(:unread)) AS u WHERE
  u.zone IS NOT NULL)) ))) AND (NOT COALESCE(j.is_nonconcurrent, false) OR (t.job_name,
  t.job_group) NOT IN (SELECT f.job_name, f.job_group FROM qrtz_fired_triggers AS f WHERE f.sched_name =
  :scheduler AND f.job_name IS NOT NULL AND f.job_group IS NOT NULL UNION ALL SELECT a.job_name, a.job_group
  FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS a WHERE f.sched_name = :scheduler AND f.job_name
  IS NULL AND a.sched_name = f.sched_name AND a.trigger_name = f.trigger_name AND a.trigger_group =
  f.trigger_group)) ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'),
  t.trigger_group , t.trigger_name LIMIT :limit ) AS waiting_time, (SELECT t.next_fire_time FROM qrtz_triggers
  AS t LEFT JOIN qrtz_job_details AS j ON j.sched_name = t.sched_name AND j.job_name = t.job_name AND
  j.job_group = t.job_group WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING' AND
  t.next_fire_time <= :untilMs AND t.next_fire_time > :nowMs AND (t.job_group || '') IN (SELECT g.job_group
  FROM (SELECT value ->> 'job_group' AS job_group FROM json_each(:groups)) AS g) AND j.job_class_name NOT IN
  (SELECT r.job_type FROM (SELECT value ->> 'job_type' AS job_type FROM json_each(:types)) AS r) AND
  (j.node_affinity IS NULL OR NOT ((substr(j.node_affinity, 1,
  length('[true,"')) = '[true,"' OR substr(j.node_affinity, 1,
  length('[false,"')) = '[false,"') AND ('"]' = '' OR substr(j.node_affinity,
  -length('"]')) = '"]')) OR instr(j.node_affinity, :node) > 0 OR (substr(j.node_affinity, 1,
  length('[false')) = '[false' AND NOT EXISTS (SELECT 1 FROM qrtz_scheduler_state AS s WHERE s.sched_name =
  :scheduler AND instr(j.node_affinity,
  ('"' || s.instance_name || '"')) > 0))) AND (t.node_affinity IS NULL OR NOT ((substr(t.node_affinity, 1,
  length('[true,"')) = '[true,"' OR substr(t.node_affinity, 1,
  length('[false,"')) = '[false,"') AND ('"]' = '' OR substr(t.node_affinity,
  -length('"]')) = '"]')) OR instr(t.node_affinity, :node) > 0 OR (substr(t.node_affinity, 1,
  length('[false')) = '[false' AND NOT EXISTS (SELECT 1 FROM qrtz_scheduler_state AS s WHERE s.sched_name =
  :scheduler AND instr(t.node_affinity, ('"' || s.instance_name || '"')) > 0)) OR (substr(t.node_affinity, 1,
  length('[false')) = '[false' AND t.next_fire_time <= :ownersUntilMs)) AND (t.job_name,
  t.job_group) NOT IN (SELECT l.job_name, l.job_group FROM (SELECT value ->> 'job_name' AS job_name,
  value ->> 'job_group' AS job_group FROM json_each(:jobs)) AS l) AND (t.trigger_name,
  t.trigger_group) NOT IN (SELECT l.trigger_name,
  l.trigger_group FROM (SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS
  trigger_group FROM json_each(:triggers)) AS l) AND NOT ((t.trigger_type IN ('CRON') AND EXISTS (SELECT 1
  FROM qrtz_cron_triggers AS c WHERE c.sched_name = t.sched_name AND c.trigger_name = t.trigger_name AND
  c.trigger_group = t.trigger_group AND c.dst_policy IS NULL AND c.cron_dialect IS NULL AND (c.time_zone_id IN
  (SELECT u.zone FROM (SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression FROM
  json_each(:unread)) AS u WHERE u.zone IS NOT NULL) OR c.cron_expression IN (SELECT u.expression FROM (SELECT
  value ->> 'zone' AS zone, value ->> 'expression' AS expression FROM json_each(:unread)) AS u WHERE
  u.expression IS NOT NULL)) )) OR (t.trigger_type IN ('CAL_INT', 'DAILY_I') AND EXISTS (SELECT 1 FROM
  qrtz_simprop_triggers AS p WHERE p.sched_name = t.sched_name AND p.trigger_name = t.trigger_name AND
  p.trigger_group = t.trigger_group AND p.time_zone_id IS NULL AND (p.str_prop_2 IN (SELECT u.zone FROM
  (SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression FROM json_each(:unread)) AS u WHERE
  u.zone IS NOT NULL)) ))) AND (NOT COALESCE(j.is_nonconcurrent, false) OR (t.job_name,
  t.job_group) NOT IN (SELECT f.job_name, f.job_group FROM qrtz_fired_triggers AS f WHERE f.sched_name =
  :scheduler AND f.job_name IS NOT NULL AND f.job_group IS NOT NULL UNION ALL SELECT a.job_name, a.job_group
  FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS a WHERE f.sched_name = :scheduler AND f.job_name
  IS NULL AND a.sched_name = f.sched_name AND a.trigger_name = f.trigger_name AND a.trigger_group =
  f.trigger_group)) ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'),
  t.trigger_group , t.trigger_name LIMIT :limit ) AS limited_time, (
  SELECT t.next_fire_time
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > :afterMs
    AND j.job_class_name NOT IN (
      SELECT r.job_type FROM (SELECT value ->> 'job_type' AS job_type FROM json_each(:types)) AS r
    )
    AND CASE WHEN (
      j.node_affinity IS NULL
        OR NOT (
          (
            substr(j.node_affinity, 1, length('[true,"')) = '[true,"'
              OR substr(j.node_affinity, 1, length('[false,"')) = '[false,"'
          )
            AND ('"]' = '' OR substr(j.node_affinity, -length('"]')) = '"]')
        )
        OR instr(j.node_affinity, :node) > 0
        OR (
          substr(j.node_affinity, 1, length('[false')) = '[false'
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND instr(j.node_affinity, ('"' || s.instance_name || '"')) > 0
            )
        )
    ) AND NOT (t.node_affinity IS NULL OR NOT ((substr(t.node_affinity, 1,
      length('[true,"')) = '[true,"' OR substr(t.node_affinity, 1,
      length('[false,"')) = '[false,"') AND ('"]' = '' OR substr(t.node_affinity,
      -length('"]')) = '"]')) OR instr(t.node_affinity, :node) > 0 OR (
      substr(t.node_affinity, 1, length('[false')) = '[false'
        AND NOT EXISTS (
          SELECT 1
          FROM qrtz_scheduler_state AS s
          WHERE s.sched_name = :scheduler
            AND instr(t.node_affinity, ('"' || s.instance_name || '"')) > 0
        )
    )) AND substr(t.node_affinity, 1,
      length('[false')) = '[false' AND t.next_fire_time > :ownersUntilMs THEN true ELSE false END
    AND t.job_group NOT IN (
      SELECT g.job_group FROM (SELECT value ->> 'job_group' AS job_group FROM json_each(:groups)) AS g
    )
    AND (t.job_name, t.job_group) NOT IN (
      SELECT l.job_name, l.job_group
      FROM (
        SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group FROM json_each(:jobs)
      ) AS l
    )
    AND (t.trigger_name, t.trigger_group) NOT IN (
      SELECT l.trigger_name, l.trigger_group
      FROM (
        SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS trigger_group
        FROM json_each(:triggers)
      ) AS l
    )
    AND NOT (
      (
        t.trigger_type IN ('CRON')
          AND EXISTS (
            SELECT 1
            FROM qrtz_cron_triggers AS c
            WHERE c.sched_name = t.sched_name
              AND c.trigger_name = t.trigger_name
              AND c.trigger_group = t.trigger_group
              AND c.dst_policy IS NULL
              AND c.cron_dialect IS NULL
              AND (
                c.time_zone_id IN (
                  SELECT u.zone
                  FROM (
                    SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression
                    FROM json_each(:unread)
                  ) AS u
                  WHERE u.zone IS NOT NULL
                )
                  OR c.cron_expression IN (
                    SELECT u.expression
                    FROM (
                      SELECT value ->> 'zone' AS zone, value ->> 'expression' AS expression
                      FROM json_each(:unread)
                    ) AS u
                    WHERE u.expression IS NOT NULL
                  )
              )
          )
      )
        OR (
          t.trigger_type IN ('CAL_INT', 'DAILY_I')
            AND EXISTS (
              SELECT 1
              FROM qrtz_simprop_triggers AS p
              WHERE p.sched_name = t.sched_name
                AND p.trigger_name = t.trigger_name
                AND p.trigger_group = t.trigger_group
                AND p.time_zone_id IS NULL
                AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT value ->> 'zone' AS zone, value ->>
                  'expression' AS expression FROM json_each(:unread)) AS u WHERE u.zone IS NOT NULL))
            )
        )
    )
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = f.sched_name
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name
  LIMIT :limit
) AS owned_time, (SELECT min(CASE WHEN t.next_fire_time > f.fired_time THEN t.next_fire_time ELSE f.fired_time
  END) FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS t WHERE f.sched_name = :scheduler AND f.state
  = 'ACQUIRED' AND f.instance_name <> :instance AND t.sched_name = f.sched_name AND t.trigger_name =
  f.trigger_name AND t.trigger_group = f.trigger_group AND t.trigger_state = 'ACQUIRED') AS claimed_time;

-- PostgreSQL
SELECT (SELECT t.next_fire_time FROM qrtz_triggers AS t LEFT JOIN qrtz_job_details AS j ON j.sched_name =
  ANY(ARRAY[t.sched_name]) AND j.job_name = t.job_name AND j.job_group = t.job_group WHERE t.sched_name =
  :scheduler AND t.trigger_state = 'WAITING' AND t.next_fire_time <= :untilMs AND t.next_fire_time > :afterMs
  AND j.job_class_name NOT IN (SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json))
  AS r(job_type text)) AS r) AND (j.node_affinity IS NULL OR NOT ((starts_with(j.node_affinity,
  CAST('[true,"' AS text)) OR starts_with(j.node_affinity,
  CAST('[false,"' AS text))) AND right(j.node_affinity,
  length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(j.node_affinity,
  CAST(:node AS text)) > 0 OR (starts_with(j.node_affinity, CAST('[false' AS text)) AND NOT EXISTS (SELECT 1
  FROM qrtz_scheduler_state AS s WHERE s.sched_name = :scheduler AND strpos(j.node_affinity, CAST(('"' ||
  s.instance_name || '"') AS text)) > 0))) AND (t.node_affinity IS NULL OR NOT ((starts_with(t.node_affinity,
  CAST('[true,"' AS text)) OR starts_with(t.node_affinity,
  CAST('[false,"' AS text))) AND right(t.node_affinity,
  length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(t.node_affinity,
  CAST(:node AS text)) > 0 OR (starts_with(t.node_affinity, CAST('[false' AS text)) AND NOT EXISTS (SELECT 1
  FROM qrtz_scheduler_state AS s WHERE s.sched_name = :scheduler AND strpos(t.node_affinity,
  CAST(('"' || s.instance_name || '"') AS text)) > 0)) OR (starts_with(t.node_affinity, CAST('[false' AS
  text)) AND t.next_fire_time <= :ownersUntilMs)) AND t.job_group NOT IN (SELECT g.job_group FROM (SELECT *
  FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g) AND (t.job_name,
  t.job_group) NOT IN (SELECT l.job_name,
  l.job_group FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text,
  job_group text)) AS l) AND (t.trigger_name, t.trigger_group) NOT IN (SELECT l.trigger_name,
  l.trigger_group FROM (SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text,
  trigger_group text)) AS l) AND NOT ((t.trigger_type IN ('CRON') AND EXISTS (SELECT 1 FROM qrtz_cron_triggers
  AS c WHERE c.sched_name = ANY(ARRAY[t.sched_name]) AND c.trigger_name = t.trigger_name AND c.trigger_group =
  t.trigger_group AND c.dst_policy IS NULL AND c.cron_dialect IS NULL AND (c.time_zone_id IN (SELECT u.zone
  FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)) AS u WHERE
  u.zone IS NOT NULL) OR c.cron_expression IN (SELECT u.expression FROM (SELECT * FROM
  json_to_recordset(CAST(:unread AS json)) AS r(zone text,
  expression text)) AS u WHERE u.expression IS NOT NULL)) OFFSET 0)) OR (t.trigger_type IN ('CAL_INT',
  'DAILY_I') AND EXISTS (SELECT 1 FROM qrtz_simprop_triggers AS p WHERE p.sched_name =
  ANY(ARRAY[t.sched_name]) AND p.trigger_name = t.trigger_name AND p.trigger_group = t.trigger_group AND
  p.time_zone_id IS NULL AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM
  json_to_recordset(CAST(:unread AS json)) AS r(zone text,
  expression text)) AS u WHERE u.zone IS NOT NULL)) OFFSET 0))) AND (NOT COALESCE(j.is_nonconcurrent,
  false) OR (t.job_name, t.job_group) NOT IN (SELECT f.job_name, f.job_group FROM qrtz_fired_triggers AS f
  WHERE f.sched_name = :scheduler AND f.job_name IS NOT NULL AND f.job_group IS NOT NULL UNION ALL SELECT
  a.job_name, a.job_group FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS a WHERE f.sched_name =
  :scheduler AND f.job_name IS NULL AND a.sched_name = ANY(ARRAY[f.sched_name]) AND a.trigger_name =
  f.trigger_name AND a.trigger_group = f.trigger_group)) ORDER BY t.next_fire_time, t.priority DESC,
  (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C" LIMIT :limit ) AS waiting_time, (SELECT t.next_fire_time FROM qrtz_triggers AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name]) AND j.job_name = t.job_name AND
  j.job_group = t.job_group WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING' AND
  t.next_fire_time <= :untilMs AND t.next_fire_time > :nowMs AND (t.job_group || '') IN (SELECT g.job_group
  FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g) AND
  j.job_class_name NOT IN (SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json)) AS
  r(job_type text)) AS r) AND (j.node_affinity IS NULL OR NOT ((starts_with(j.node_affinity,
  CAST('[true,"' AS text)) OR starts_with(j.node_affinity,
  CAST('[false,"' AS text))) AND right(j.node_affinity,
  length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(j.node_affinity,
  CAST(:node AS text)) > 0 OR (starts_with(j.node_affinity, CAST('[false' AS text)) AND NOT EXISTS (SELECT 1
  FROM qrtz_scheduler_state AS s WHERE s.sched_name = :scheduler AND strpos(j.node_affinity, CAST(('"' ||
  s.instance_name || '"') AS text)) > 0))) AND (t.node_affinity IS NULL OR NOT ((starts_with(t.node_affinity,
  CAST('[true,"' AS text)) OR starts_with(t.node_affinity,
  CAST('[false,"' AS text))) AND right(t.node_affinity,
  length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(t.node_affinity,
  CAST(:node AS text)) > 0 OR (starts_with(t.node_affinity, CAST('[false' AS text)) AND NOT EXISTS (SELECT 1
  FROM qrtz_scheduler_state AS s WHERE s.sched_name = :scheduler AND strpos(t.node_affinity,
  CAST(('"' || s.instance_name || '"') AS text)) > 0)) OR (starts_with(t.node_affinity,
  CAST('[false' AS text)) AND t.next_fire_time <= :ownersUntilMs)) AND (t.job_name,
  t.job_group) NOT IN (SELECT l.job_name,
  l.job_group FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text,
  job_group text)) AS l) AND (t.trigger_name, t.trigger_group) NOT IN (SELECT l.trigger_name,
  l.trigger_group FROM (SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text,
  trigger_group text)) AS l) AND NOT ((t.trigger_type IN ('CRON') AND EXISTS (SELECT 1 FROM qrtz_cron_triggers
  AS c WHERE c.sched_name = ANY(ARRAY[t.sched_name]) AND c.trigger_name = t.trigger_name AND c.trigger_group =
  t.trigger_group AND c.dst_policy IS NULL AND c.cron_dialect IS NULL AND (c.time_zone_id IN (SELECT u.zone
  FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)) AS u WHERE
  u.zone IS NOT NULL) OR c.cron_expression IN (SELECT u.expression FROM (SELECT * FROM
  json_to_recordset(CAST(:unread AS json)) AS r(zone text,
  expression text)) AS u WHERE u.expression IS NOT NULL)) OFFSET 0)) OR (t.trigger_type IN ('CAL_INT',
  'DAILY_I') AND EXISTS (SELECT 1 FROM qrtz_simprop_triggers AS p WHERE p.sched_name =
  ANY(ARRAY[t.sched_name]) AND p.trigger_name = t.trigger_name AND p.trigger_group = t.trigger_group AND
  p.time_zone_id IS NULL AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM
  json_to_recordset(CAST(:unread AS json)) AS r(zone text,
  expression text)) AS u WHERE u.zone IS NOT NULL)) OFFSET 0))) AND (NOT COALESCE(j.is_nonconcurrent,
  false) OR (t.job_name, t.job_group) NOT IN (SELECT f.job_name, f.job_group FROM qrtz_fired_triggers AS f
  WHERE f.sched_name = :scheduler AND f.job_name IS NOT NULL AND f.job_group IS NOT NULL UNION ALL SELECT
  a.job_name, a.job_group FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS a WHERE f.sched_name =
  :scheduler AND f.job_name IS NULL AND a.sched_name = ANY(ARRAY[f.sched_name]) AND a.trigger_name =
  f.trigger_name AND a.trigger_group = f.trigger_group)) ORDER BY t.next_fire_time, t.priority DESC,
  (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C" LIMIT :limit ) AS limited_time, (
  SELECT t.next_fire_time
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > :afterMs
    AND j.job_class_name NOT IN (
      SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json)) AS r(job_type text)) AS r
    )
    AND CASE WHEN (
      j.node_affinity IS NULL
        OR NOT (
          (
            starts_with(j.node_affinity, CAST('[true,"' AS text))
              OR starts_with(j.node_affinity, CAST('[false,"' AS text))
          )
            AND right(j.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
        )
        OR strpos(j.node_affinity, CAST(:node AS text)) > 0
        OR (
          starts_with(j.node_affinity, CAST('[false' AS text))
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND strpos(j.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
            )
        )
    ) AND NOT (t.node_affinity IS NULL OR NOT ((starts_with(t.node_affinity,
      CAST('[true,"' AS text)) OR starts_with(t.node_affinity,
      CAST('[false,"' AS text))) AND right(t.node_affinity,
      length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(t.node_affinity,
      CAST(:node AS text)) > 0 OR (
      starts_with(t.node_affinity, CAST('[false' AS text))
        AND NOT EXISTS (
          SELECT 1
          FROM qrtz_scheduler_state AS s
          WHERE s.sched_name = :scheduler
            AND strpos(t.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
        )
    )) AND starts_with(t.node_affinity,
      CAST('[false' AS text)) AND t.next_fire_time > :ownersUntilMs THEN true ELSE false END
    AND t.job_group NOT IN (
      SELECT g.job_group
      FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g
    )
    AND (t.job_name, t.job_group) NOT IN (
      SELECT l.job_name, l.job_group
      FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text, job_group text)) AS l
    )
    AND (t.trigger_name, t.trigger_group) NOT IN (
      SELECT l.trigger_name, l.trigger_group
      FROM (
        SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text, trigger_group text)
      ) AS l
    )
    AND NOT (
      (
        t.trigger_type IN ('CRON')
          AND EXISTS (
            SELECT 1
            FROM qrtz_cron_triggers AS c
            WHERE c.sched_name = ANY(ARRAY[t.sched_name])
              AND c.trigger_name = t.trigger_name
              AND c.trigger_group = t.trigger_group
              AND c.dst_policy IS NULL
              AND c.cron_dialect IS NULL
              AND (
                c.time_zone_id IN (
                  SELECT u.zone
                  FROM (
                    SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                  ) AS u
                  WHERE u.zone IS NOT NULL
                )
                  OR c.cron_expression IN (
                    SELECT u.expression
                    FROM (
                      SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                    ) AS u
                    WHERE u.expression IS NOT NULL
                  )
              ) OFFSET 0
          )
      )
        OR (
          t.trigger_type IN ('CAL_INT', 'DAILY_I')
            AND EXISTS (
              SELECT 1
              FROM qrtz_simprop_triggers AS p
              WHERE p.sched_name = ANY(ARRAY[t.sched_name])
                AND p.trigger_name = t.trigger_name
                AND p.trigger_group = t.trigger_group
                AND p.time_zone_id IS NULL
                AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM json_to_recordset(CAST(:unread AS
                  json)) AS r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL)) OFFSET 0
            )
        )
    )
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = ANY(ARRAY[f.sched_name])
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C"
  LIMIT :limit
) AS owned_time, (SELECT min(CASE WHEN t.next_fire_time > f.fired_time THEN t.next_fire_time ELSE f.fired_time
  END) FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS t WHERE f.sched_name = :scheduler AND f.state
  = 'ACQUIRED' AND f.instance_name <> :instance AND t.sched_name = ANY(ARRAY[f.sched_name]) AND t.trigger_name
  = f.trigger_name AND t.trigger_group = f.trigger_group AND t.trigger_state = 'ACQUIRED') AS claimed_time;

-- PostgreSQL, quartzLocks
SELECT (SELECT t.next_fire_time FROM qrtz_triggers AS t LEFT JOIN qrtz_job_details AS j ON j.sched_name =
  ANY(ARRAY[t.sched_name]) AND j.job_name = t.job_name AND j.job_group = t.job_group WHERE t.sched_name =
  :scheduler AND t.trigger_state = 'WAITING' AND t.next_fire_time <= :untilMs AND t.next_fire_time > :afterMs
  AND j.job_class_name NOT IN (SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json))
  AS r(job_type text)) AS r) AND (j.node_affinity IS NULL OR NOT ((starts_with(j.node_affinity,
  CAST('[true,"' AS text)) OR starts_with(j.node_affinity,
  CAST('[false,"' AS text))) AND right(j.node_affinity,
  length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(j.node_affinity,
  CAST(:node AS text)) > 0 OR (starts_with(j.node_affinity, CAST('[false' AS text)) AND NOT EXISTS (SELECT 1
  FROM qrtz_scheduler_state AS s WHERE s.sched_name = :scheduler AND strpos(j.node_affinity, CAST(('"' ||
  s.instance_name || '"') AS text)) > 0))) AND (t.node_affinity IS NULL OR NOT ((starts_with(t.node_affinity,
  CAST('[true,"' AS text)) OR starts_with(t.node_affinity,
  CAST('[false,"' AS text))) AND right(t.node_affinity,
  length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(t.node_affinity,
  CAST(:node AS text)) > 0 OR (starts_with(t.node_affinity, CAST('[false' AS text)) AND NOT EXISTS (SELECT 1
  FROM qrtz_scheduler_state AS s WHERE s.sched_name = :scheduler AND strpos(t.node_affinity,
  CAST(('"' || s.instance_name || '"') AS text)) > 0)) OR (starts_with(t.node_affinity, CAST('[false' AS
  text)) AND t.next_fire_time <= :ownersUntilMs)) AND t.job_group NOT IN (SELECT g.job_group FROM (SELECT *
  FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g) AND (t.job_name,
  t.job_group) NOT IN (SELECT l.job_name,
  l.job_group FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text,
  job_group text)) AS l) AND (t.trigger_name, t.trigger_group) NOT IN (SELECT l.trigger_name,
  l.trigger_group FROM (SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text,
  trigger_group text)) AS l) AND NOT ((t.trigger_type IN ('CRON') AND EXISTS (SELECT 1 FROM qrtz_cron_triggers
  AS c WHERE c.sched_name = ANY(ARRAY[t.sched_name]) AND c.trigger_name = t.trigger_name AND c.trigger_group =
  t.trigger_group AND c.dst_policy IS NULL AND c.cron_dialect IS NULL AND (c.time_zone_id IN (SELECT u.zone
  FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)) AS u WHERE
  u.zone IS NOT NULL) OR c.cron_expression IN (SELECT u.expression FROM (SELECT * FROM
  json_to_recordset(CAST(:unread AS json)) AS r(zone text,
  expression text)) AS u WHERE u.expression IS NOT NULL)) OFFSET 0)) OR (t.trigger_type IN ('CAL_INT',
  'DAILY_I') AND EXISTS (SELECT 1 FROM qrtz_simprop_triggers AS p WHERE p.sched_name =
  ANY(ARRAY[t.sched_name]) AND p.trigger_name = t.trigger_name AND p.trigger_group = t.trigger_group AND
  p.time_zone_id IS NULL AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM
  json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL))
  OFFSET 0))) AND NOT ((t.trigger_name !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.trigger_group !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.job_name !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.job_group !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]') OR
  t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I') OR ((encode(substr(t.job_data, 1, 2),
  'hex') = 'aced') IS TRUE OR (encode(substr(j.job_data, 1, 2),
  'hex') = 'aced') IS TRUE) OR (t.calendar_name IS NOT NULL AND (SELECT encode(substr(k.calendar, 1, 2),
  'hex') = 'aced' FROM qrtz_calendars AS k WHERE k.sched_name = t.sched_name AND k.calendar_name =
  t.calendar_name) IS TRUE)) AND (NOT COALESCE(j.is_nonconcurrent, false) OR (t.job_name,
  t.job_group) NOT IN (SELECT f.job_name, f.job_group FROM qrtz_fired_triggers AS f WHERE f.sched_name =
  :scheduler AND f.job_name IS NOT NULL AND f.job_group IS NOT NULL UNION ALL SELECT a.job_name, a.job_group
  FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS a WHERE f.sched_name = :scheduler AND f.job_name
  IS NULL AND a.sched_name = ANY(ARRAY[f.sched_name]) AND a.trigger_name = f.trigger_name AND a.trigger_group
  = f.trigger_group)) ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'),
  t.trigger_group COLLATE "C", t.trigger_name COLLATE "C" LIMIT :limit ) AS waiting_time, (SELECT
  t.next_fire_time FROM qrtz_triggers AS t LEFT JOIN qrtz_job_details AS j ON j.sched_name =
  ANY(ARRAY[t.sched_name]) AND j.job_name = t.job_name AND j.job_group = t.job_group WHERE t.sched_name =
  :scheduler AND t.trigger_state = 'WAITING' AND t.next_fire_time <= :untilMs AND t.next_fire_time > :nowMs
  AND (t.job_group || '') IN (SELECT g.job_group FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json))
  AS r(job_group text)) AS g) AND j.job_class_name NOT IN (SELECT r.job_type FROM (SELECT * FROM
  json_to_recordset(CAST(:types AS json)) AS r(job_type text)) AS r) AND (j.node_affinity IS NULL OR NOT
  ((starts_with(j.node_affinity, CAST('[true,"' AS text)) OR starts_with(j.node_affinity,
  CAST('[false,"' AS text))) AND right(j.node_affinity,
  length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(j.node_affinity,
  CAST(:node AS text)) > 0 OR (starts_with(j.node_affinity, CAST('[false' AS text)) AND NOT EXISTS (SELECT 1
  FROM qrtz_scheduler_state AS s WHERE s.sched_name = :scheduler AND strpos(j.node_affinity, CAST(('"' ||
  s.instance_name || '"') AS text)) > 0))) AND (t.node_affinity IS NULL OR NOT ((starts_with(t.node_affinity,
  CAST('[true,"' AS text)) OR starts_with(t.node_affinity,
  CAST('[false,"' AS text))) AND right(t.node_affinity,
  length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(t.node_affinity,
  CAST(:node AS text)) > 0 OR (starts_with(t.node_affinity, CAST('[false' AS text)) AND NOT EXISTS (SELECT 1
  FROM qrtz_scheduler_state AS s WHERE s.sched_name = :scheduler AND strpos(t.node_affinity,
  CAST(('"' || s.instance_name || '"') AS text)) > 0)) OR (starts_with(t.node_affinity,
  CAST('[false' AS text)) AND t.next_fire_time <= :ownersUntilMs)) AND (t.job_name,
  t.job_group) NOT IN (SELECT l.job_name,
  l.job_group FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text,
  job_group text)) AS l) AND (t.trigger_name, t.trigger_group) NOT IN (SELECT l.trigger_name,
  l.trigger_group FROM (SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text,
  trigger_group text)) AS l) AND NOT ((t.trigger_type IN ('CRON') AND EXISTS (SELECT 1 FROM qrtz_cron_triggers
  AS c WHERE c.sched_name = ANY(ARRAY[t.sched_name]) AND c.trigger_name = t.trigger_name AND c.trigger_group =
  t.trigger_group AND c.dst_policy IS NULL AND c.cron_dialect IS NULL AND (c.time_zone_id IN (SELECT u.zone
  FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)) AS u WHERE
  u.zone IS NOT NULL) OR c.cron_expression IN (SELECT u.expression FROM (SELECT * FROM
  json_to_recordset(CAST(:unread AS json)) AS r(zone text,
  expression text)) AS u WHERE u.expression IS NOT NULL)) OFFSET 0)) OR (t.trigger_type IN ('CAL_INT',
  'DAILY_I') AND EXISTS (SELECT 1 FROM qrtz_simprop_triggers AS p WHERE p.sched_name =
  ANY(ARRAY[t.sched_name]) AND p.trigger_name = t.trigger_name AND p.trigger_group = t.trigger_group AND
  p.time_zone_id IS NULL AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM
  json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL))
  OFFSET 0))) AND NOT ((t.trigger_name !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.trigger_group !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.job_name !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.job_group !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]') OR
  t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I') OR ((encode(substr(t.job_data, 1, 2),
  'hex') = 'aced') IS TRUE OR (encode(substr(j.job_data, 1, 2),
  'hex') = 'aced') IS TRUE) OR (t.calendar_name IS NOT NULL AND (SELECT encode(substr(k.calendar, 1, 2),
  'hex') = 'aced' FROM qrtz_calendars AS k WHERE k.sched_name = t.sched_name AND k.calendar_name =
  t.calendar_name) IS TRUE)) AND (NOT COALESCE(j.is_nonconcurrent, false) OR (t.job_name,
  t.job_group) NOT IN (SELECT f.job_name, f.job_group FROM qrtz_fired_triggers AS f WHERE f.sched_name =
  :scheduler AND f.job_name IS NOT NULL AND f.job_group IS NOT NULL UNION ALL SELECT a.job_name, a.job_group
  FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS a WHERE f.sched_name = :scheduler AND f.job_name
  IS NULL AND a.sched_name = ANY(ARRAY[f.sched_name]) AND a.trigger_name = f.trigger_name AND a.trigger_group
  = f.trigger_group)) ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'),
  t.trigger_group COLLATE "C", t.trigger_name COLLATE "C" LIMIT :limit ) AS limited_time, (
  SELECT t.next_fire_time
  FROM qrtz_triggers AS t
    LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time <= :untilMs
    AND t.next_fire_time > :afterMs
    AND j.job_class_name NOT IN (
      SELECT r.job_type FROM (SELECT * FROM json_to_recordset(CAST(:types AS json)) AS r(job_type text)) AS r
    )
    AND CASE WHEN (
      j.node_affinity IS NULL
        OR NOT (
          (
            starts_with(j.node_affinity, CAST('[true,"' AS text))
              OR starts_with(j.node_affinity, CAST('[false,"' AS text))
          )
            AND right(j.node_affinity, length(CAST('"]' AS text))) = CAST('"]' AS text)
        )
        OR strpos(j.node_affinity, CAST(:node AS text)) > 0
        OR (
          starts_with(j.node_affinity, CAST('[false' AS text))
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_scheduler_state AS s
              WHERE s.sched_name = :scheduler
                AND strpos(j.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
            )
        )
    ) AND NOT (t.node_affinity IS NULL OR NOT ((starts_with(t.node_affinity,
      CAST('[true,"' AS text)) OR starts_with(t.node_affinity,
      CAST('[false,"' AS text))) AND right(t.node_affinity,
      length(CAST('"]' AS text))) = CAST('"]' AS text)) OR strpos(t.node_affinity,
      CAST(:node AS text)) > 0 OR (
      starts_with(t.node_affinity, CAST('[false' AS text))
        AND NOT EXISTS (
          SELECT 1
          FROM qrtz_scheduler_state AS s
          WHERE s.sched_name = :scheduler
            AND strpos(t.node_affinity, CAST(('"' || s.instance_name || '"') AS text)) > 0
        )
    )) AND starts_with(t.node_affinity,
      CAST('[false' AS text)) AND t.next_fire_time > :ownersUntilMs THEN true ELSE false END
    AND t.job_group NOT IN (
      SELECT g.job_group
      FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(job_group text)) AS g
    )
    AND (t.job_name, t.job_group) NOT IN (
      SELECT l.job_name, l.job_group
      FROM (SELECT * FROM json_to_recordset(CAST(:jobs AS json)) AS r(job_name text, job_group text)) AS l
    )
    AND (t.trigger_name, t.trigger_group) NOT IN (
      SELECT l.trigger_name, l.trigger_group
      FROM (
        SELECT * FROM json_to_recordset(CAST(:triggers AS json)) AS r(trigger_name text, trigger_group text)
      ) AS l
    )
    AND NOT (
      (
        t.trigger_type IN ('CRON')
          AND EXISTS (
            SELECT 1
            FROM qrtz_cron_triggers AS c
            WHERE c.sched_name = ANY(ARRAY[t.sched_name])
              AND c.trigger_name = t.trigger_name
              AND c.trigger_group = t.trigger_group
              AND c.dst_policy IS NULL
              AND c.cron_dialect IS NULL
              AND (
                c.time_zone_id IN (
                  SELECT u.zone
                  FROM (
                    SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                  ) AS u
                  WHERE u.zone IS NOT NULL
                )
                  OR c.cron_expression IN (
                    SELECT u.expression
                    FROM (
                      SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
                    ) AS u
                    WHERE u.expression IS NOT NULL
                  )
              ) OFFSET 0
          )
      )
        OR (
          t.trigger_type IN ('CAL_INT', 'DAILY_I')
            AND EXISTS (
              SELECT 1
              FROM qrtz_simprop_triggers AS p
              WHERE p.sched_name = ANY(ARRAY[t.sched_name])
                AND p.trigger_name = t.trigger_name
                AND p.trigger_group = t.trigger_group
                AND p.time_zone_id IS NULL
                AND (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM json_to_recordset(CAST(:unread AS
                  json)) AS r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL)) OFFSET 0
            )
        )
    )
    AND NOT (
      (
        t.trigger_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.trigger_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_name !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
      )
        OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
        OR (
          (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
            OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
        )
        OR (
          t.calendar_name IS NOT NULL
            AND (
              SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
              FROM qrtz_calendars AS k
              WHERE k.sched_name = t.sched_name
                AND k.calendar_name = t.calendar_name
            ) IS TRUE
        )
    )
    AND (
      NOT COALESCE(j.is_nonconcurrent, false)
        OR (t.job_name, t.job_group) NOT IN (
          SELECT f.job_name, f.job_group
          FROM qrtz_fired_triggers AS f
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NOT NULL
            AND f.job_group IS NOT NULL
          UNION ALL
          SELECT a.job_name, a.job_group
          FROM qrtz_fired_triggers AS f
            CROSS JOIN qrtz_triggers AS a
          WHERE f.sched_name = :scheduler
            AND f.job_name IS NULL
            AND a.sched_name = ANY(ARRAY[f.sched_name])
            AND a.trigger_name = f.trigger_name
            AND a.trigger_group = f.trigger_group
        )
    )
  ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C"
  LIMIT :limit
) AS owned_time, (SELECT min(CASE WHEN t.next_fire_time > f.fired_time THEN t.next_fire_time ELSE f.fired_time
  END) FROM qrtz_fired_triggers AS f CROSS JOIN qrtz_triggers AS t WHERE f.sched_name = :scheduler AND f.state
  = 'ACQUIRED' AND f.instance_name <> :instance AND t.sched_name = ANY(ARRAY[f.sched_name]) AND t.trigger_name
  = f.trigger_name AND t.trigger_group = f.trigger_group AND t.trigger_state = 'ACQUIRED') AS claimed_time;

---------------------------------------------------------
-- triggerData: data of triggers, without their schedules
---------------------------------------------------------

-- triggerData.load
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.job_data
FROM (
  SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS trigger_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = r.sched_name
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND true;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.job_data
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

--------------------------------------------------------------------------------------
-- scopes: triggers that one action reaches: all, one, those of a job, those of groups
--------------------------------------------------------------------------------------

-- scopes.pause.all
--   programs/scheduling/pausing.ts (pauseAll, pauseJob, pauseJobs, pauseTrigger, pauseTriggers)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
WHERE t.sched_name = :scheduler
  AND true
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED');

-- scopes.pause.one
--   programs/scheduling/pausing.ts (pauseAll, pauseJob, pauseJobs, pauseTrigger, pauseTriggers)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED');

-- scopes.pause.job
--   programs/scheduling/pausing.ts (pauseAll, pauseJob, pauseJobs, pauseTrigger, pauseTriggers)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED');

-- scopes.pause.triggerGroups
--   programs/scheduling/pausing.ts (pauseAll, pauseJob, pauseJobs, pauseTrigger, pauseTriggers)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.job_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED');

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.job_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED');

-- scopes.pause.jobGroups
--   programs/scheduling/pausing.ts (pauseAll, pauseJob, pauseJobs, pauseTrigger, pauseTriggers)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
WHERE t.sched_name = :scheduler
  AND t.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.trigger_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED');

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'WAITING' THEN 'PAUSED' WHEN 'ACQUIRED' THEN 'PAUSED' WHEN
  'BLOCKED' THEN 'PAUSED_BLOCKED' ELSE t.trigger_state END
WHERE t.sched_name = :scheduler
  AND t.job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_state IN ('WAITING', 'ACQUIRED', 'BLOCKED');

-- scopes.resume.every.all
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND true
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.every.one
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.every.job
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.every.triggerGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.job_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.job_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.every.jobGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.trigger_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.unheld.all
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND true
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.unheld.one
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.unheld.job
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.unheld.triggerGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.job_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.job_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.resume.unheld.jobGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.trigger_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE WHEN t.next_fire_time > 0 THEN CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN
  'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE t.trigger_state END ELSE 'COMPLETE' END
WHERE t.sched_name = :scheduler
  AND t.job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED');

-- scopes.earliest.every.all
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND true
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.every.one
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.every.job
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.every.triggerGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.job_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- PostgreSQL
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.job_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.every.jobGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.trigger_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- PostgreSQL
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.unheld.all
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND true
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.unheld.one
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.unheld.job
--   programs/steps/resuming.ts (resumeScope)
-- Every engine
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.unheld.triggerGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.job_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- PostgreSQL
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.job_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliest.unheld.jobGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.trigger_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- PostgreSQL
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND CASE t.trigger_state WHEN 'PAUSED' THEN 'WAITING' WHEN 'PAUSED_BLOCKED' THEN 'BLOCKED' ELSE
    t.trigger_state END = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.late.every.all
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND true
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND true
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.every.one
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.every.job
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.every.triggerGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.job_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.job_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.every.jobGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.trigger_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.unheld.all
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND true
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND true
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.unheld.one
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_name = :name
  AND t.trigger_group = :grp
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.unheld.job
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_name = :name
  AND t.job_group = :grp
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.unheld.triggerGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.job_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.job_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.late.unheld.jobGroups
--   programs/steps/resuming.ts (resumeScope)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
  AND t.trigger_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
  )
  AND t.trigger_group NOT IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'trigger'
      AND h.pause_group = t.trigger_group
      AND h.pause_name = t.trigger_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_pauses h
    WHERE h.sched_name = t.sched_name
      AND h.pause_scope = 'job'
      AND h.pause_group = t.job_group
      AND h.pause_name = t.job_name
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_trigger_grps h
    WHERE h.sched_name = t.sched_name
      AND h.trigger_group = t.trigger_group
  )
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_paused_job_grps h
    WHERE h.sched_name = t.sched_name
      AND h.job_group = t.job_group
  )
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND (
    COALESCE(t.next_fire_time, 0) <= 0
      OR t.next_fire_time <= :latestMs
      AND COALESCE(t.misfire_instr, 0) <> :ignored
  )
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit
FOR NO KEY UPDATE OF t;

-- scopes.release
--   programs/scheduling/scheduling.ts (storeJobs)
-- SQLite
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ACQUIRED' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state IN ('ACQUIRED');

-- PostgreSQL
UPDATE qrtz_triggers AS t
SET trigger_state = CASE t.trigger_state WHEN 'ACQUIRED' THEN 'WAITING' ELSE t.trigger_state END
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || '';

-- scopes.earliestOfJobs
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   programs/firing/firing.ts (fireTriggers)
--   programs/firing/releasing.ts (release)
--   programs/scheduling/scheduling.ts (storeJobs)
-- SQLite
SELECT min(t.next_fire_time) AS earliest
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = r.sched_name
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND true
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time > 0;

-- PostgreSQL
SELECT min(t.next_fire_time) AS earliest
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = ANY(ARRAY[r.job_name])
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time > 0;

-- scopes.earliestBehindStaleClaims
--   programs/steps/ended-claims.ts (endStaleClaims)
-- SQLite
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_fired_triggers AS f
  CROSS JOIN qrtz_triggers AS t
WHERE f.sched_name = :scheduler
  AND f.state = 'ACQUIRED'
  AND f.is_nonconcurrent
  AND t.sched_name = f.sched_name
  AND t.job_name = f.job_name
  AND t.job_group = f.job_group
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time + 0 > 0
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_triggers AS claimed
    WHERE claimed.sched_name = f.sched_name
      AND claimed.trigger_name = f.trigger_name
      AND claimed.trigger_group = f.trigger_group
      AND claimed.trigger_state = 'ACQUIRED'
  );

-- PostgreSQL
SELECT min(t.next_fire_time) AS earliest
FROM qrtz_fired_triggers AS f
  CROSS JOIN qrtz_triggers AS t
WHERE f.sched_name = :scheduler
  AND f.state = 'ACQUIRED'
  AND f.is_nonconcurrent
  AND t.sched_name = ANY(ARRAY[f.sched_name])
  AND t.job_name = ANY(ARRAY[f.job_name])
  AND t.job_group = f.job_group
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time + 0 > 0
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_triggers AS claimed
    WHERE claimed.sched_name = ANY(ARRAY[f.sched_name])
      AND claimed.trigger_name = f.trigger_name
      AND claimed.trigger_group = f.trigger_group
      AND claimed.trigger_state = 'ACQUIRED'
  );

--------------------------------------------------------
-- triggersOfJava: triggers that only Java nodes can run
--------------------------------------------------------

-- triggersOfJava.due
--   programs/firing/acquiring.ts (searchTriggers)
SELECT t.trigger_name, t.trigger_group, t.trigger_type, t.calendar_name, t.next_fire_time, t.place,
  (t.trigger_name !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.trigger_group !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.job_name !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]' OR
  t.job_group !~
  E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]') AS
  has_blank_key, t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I') AS of_other_type,
  ((encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE OR (encode(substr(j.job_data, 1, 2),
  'hex') = 'aced') IS TRUE) AS has_java_data, COALESCE(c.time_zone_id, p.str_prop_2) AS zone,
  c.cron_expression AS expression, (
  (
    (
      t.trigger_name !~
        E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.trigger_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
    )
      OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
      OR (
        (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
          OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
      )
      OR (
        t.calendar_name IS NOT NULL
          AND (
            SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
            FROM qrtz_calendars AS k
            WHERE k.sched_name = t.sched_name
              AND k.calendar_name = t.calendar_name
          ) IS TRUE
      )
  )
    OR (
      (
        c.time_zone_id IN (
          SELECT u.zone
          FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)) AS u
          WHERE u.zone IS NOT NULL
        )
          OR c.cron_expression IN (
            SELECT u.expression
            FROM (
              SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
            ) AS u
            WHERE u.expression IS NOT NULL
          )
      ) IS TRUE
        OR (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS
          r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL)) IS TRUE
    )
) AS of_java
FROM (
  SELECT t.*, row_number() OVER (ORDER BY t.next_fire_time, t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C") AS place
  FROM qrtz_triggers AS t
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time > 0
    AND t.next_fire_time >= :afterMs
    AND t.next_fire_time <= :untilMs
    AND (t.next_fire_time, t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterMs, :afterGroup,
      :afterName)
  ORDER BY t.next_fire_time, t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
  LIMIT :limit
) AS t
  LEFT JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = ANY(ARRAY[t.sched_name])
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
    AND c.dst_policy IS NULL
    AND c.cron_dialect IS NULL
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = ANY(ARRAY[t.sched_name])
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
    AND p.time_zone_id IS NULL
WHERE t.place = :limit
  OR (
    (
      (
        t.trigger_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.trigger_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_name !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
          OR t.job_group !~
            E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
      )
        OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
        OR (
          (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
            OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
        )
        OR (
          t.calendar_name IS NOT NULL
            AND (
              SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
              FROM qrtz_calendars AS k
              WHERE k.sched_name = t.sched_name
                AND k.calendar_name = t.calendar_name
            ) IS TRUE
        )
    )
      OR (
        (
          c.time_zone_id IN (
            SELECT u.zone
            FROM (
              SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
            ) AS u
            WHERE u.zone IS NOT NULL
          )
            OR c.cron_expression IN (
              SELECT u.expression
              FROM (
                SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS r(zone text, expression text)
              ) AS u
              WHERE u.expression IS NOT NULL
            )
        ) IS TRUE
          OR (p.str_prop_2 IN (SELECT u.zone FROM (SELECT * FROM json_to_recordset(CAST(:unread AS json)) AS
            r(zone text, expression text)) AS u WHERE u.zone IS NOT NULL)) IS TRUE
      )
  );

-- triggersOfJava.among
--   programs/steps/faulty-triggers.ts (putInError)
SELECT t.trigger_name, t.trigger_group
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
  JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[t.sched_name])
    AND j.job_name = t.job_name
    AND j.job_group = t.job_group
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name)
  AND (
    (
      t.trigger_name !~
        E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.trigger_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_name !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
        OR t.job_group !~
          E'[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]'
    )
      OR t.trigger_type NOT IN ('SIMPLE', 'CRON', 'CAL_INT', 'DAILY_I')
      OR (
        (encode(substr(t.job_data, 1, 2), 'hex') = 'aced') IS TRUE
          OR (encode(substr(j.job_data, 1, 2), 'hex') = 'aced') IS TRUE
      )
      OR (
        t.calendar_name IS NOT NULL
          AND (
            SELECT encode(substr(k.calendar, 1, 2), 'hex') = 'aced'
            FROM qrtz_calendars AS k
            WHERE k.sched_name = t.sched_name
              AND k.calendar_name = t.calendar_name
          ) IS TRUE
      )
  );

-- triggersOfJava.ofJavaColumns
--   programs/steps/faulty-triggers.ts (putInError)
SELECT t.trigger_name, t.trigger_group, COALESCE(c.time_zone_id, p.str_prop_2) AS zone,
  c.cron_expression AS expression
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
  LEFT JOIN qrtz_cron_triggers AS c ON c.sched_name = ANY(ARRAY[t.sched_name])
    AND c.trigger_name = t.trigger_name
    AND c.trigger_group = t.trigger_group
    AND c.dst_policy IS NULL
    AND c.cron_dialect IS NULL
  LEFT JOIN qrtz_simprop_triggers AS p ON p.sched_name = ANY(ARRAY[t.sched_name])
    AND p.trigger_name = t.trigger_name
    AND p.trigger_group = t.trigger_group
    AND p.time_zone_id IS NULL
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- triggersOfJava.copyData
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
UPDATE qrtz_triggers AS t
SET job_data = (
  SELECT o.job_data
  FROM qrtz_triggers AS o
  WHERE o.sched_name = ANY(ARRAY[r.sched_name])
    AND o.trigger_name = r.from_name
    AND o.trigger_group = r.from_group
)
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text,
    from_name text, from_group text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

--------------------
-- jobs: job_details
--------------------

-- jobs.insert
--   programs/scheduling/scheduling.ts (storeJobs)
-- SQLite
INSERT INTO qrtz_job_details (sched_name, job_name, job_group, description, job_class_name, is_durable,
  is_nonconcurrent, is_update_data, requests_recovery, job_data, timeout_ms, retry_policy, node_affinity,
  sharding, job_plan)
VALUES (:scheduler, :job_name, :job_group, :description, :job_class_name, :is_durable, :is_nonconcurrent,
  :is_update_data, :requests_recovery, CAST(:job_data AS BLOB), :timeout_ms, :retry_policy, :node_affinity,
  :sharding, :job_plan);

-- PostgreSQL
INSERT INTO qrtz_job_details (sched_name, job_name, job_group, description, job_class_name, is_durable,
  is_nonconcurrent, is_update_data, requests_recovery, job_data, timeout_ms, retry_policy, node_affinity,
  sharding, job_plan)
SELECT :scheduler, r.job_name, r.job_group, r.description, r.job_class_name, r.is_durable, r.is_nonconcurrent,
  r.is_update_data, r.requests_recovery, convert_to(r.job_data, 'UTF8'), r.timeout_ms, r.retry_policy,
  r.node_affinity, r.sharding, r.job_plan
FROM (
  SELECT *
  FROM unnest(CAST(:job_name AS text[]), CAST(:job_group AS text[]), CAST(:description AS text[]),
    CAST(:job_class_name AS text[]), CAST(:is_durable AS boolean[]), CAST(:is_nonconcurrent AS boolean[]),
    CAST(:is_update_data AS boolean[]), CAST(:requests_recovery AS boolean[]), CAST(:job_data AS text[]),
    CAST(:timeout_ms AS bigint[]), CAST(:retry_policy AS text[]), CAST(:node_affinity AS text[]),
    CAST(:sharding AS text[]), CAST(:job_plan AS text[])) AS r (job_name, job_group, description,
    job_class_name, is_durable, is_nonconcurrent, is_update_data, requests_recovery, job_data, timeout_ms,
    retry_policy, node_affinity, sharding, job_plan)
) AS r
WHERE true;

-- jobs.upsert
--   programs/scheduling/scheduling.ts (storeJobs)
-- SQLite
INSERT INTO qrtz_job_details (sched_name, job_name, job_group, description, job_class_name, is_durable,
  is_nonconcurrent, is_update_data, requests_recovery, job_data, timeout_ms, retry_policy, node_affinity,
  sharding, job_plan)
VALUES (:scheduler, :job_name, :job_group, :description, :job_class_name, :is_durable, :is_nonconcurrent,
  :is_update_data, :requests_recovery, CAST(:job_data AS BLOB), :timeout_ms, :retry_policy, :node_affinity,
  :sharding, :job_plan)
ON CONFLICT (sched_name, job_name, job_group) DO UPDATE SET description = excluded.description,
  job_class_name = excluded.job_class_name, is_durable = excluded.is_durable,
  is_nonconcurrent = excluded.is_nonconcurrent, is_update_data = excluded.is_update_data,
  requests_recovery = excluded.requests_recovery, job_data = excluded.job_data,
  timeout_ms = excluded.timeout_ms, retry_policy = excluded.retry_policy,
  node_affinity = excluded.node_affinity, sharding = excluded.sharding, job_plan = excluded.job_plan;

-- PostgreSQL
INSERT INTO qrtz_job_details (sched_name, job_name, job_group, description, job_class_name, is_durable,
  is_nonconcurrent, is_update_data, requests_recovery, job_data, timeout_ms, retry_policy, node_affinity,
  sharding, job_plan)
SELECT :scheduler, r.job_name, r.job_group, r.description, r.job_class_name, r.is_durable, r.is_nonconcurrent,
  r.is_update_data, r.requests_recovery, convert_to(r.job_data, 'UTF8'), r.timeout_ms, r.retry_policy,
  r.node_affinity, r.sharding, r.job_plan
FROM (
  SELECT *
  FROM unnest(CAST(:job_name AS text[]), CAST(:job_group AS text[]), CAST(:description AS text[]),
    CAST(:job_class_name AS text[]), CAST(:is_durable AS boolean[]), CAST(:is_nonconcurrent AS boolean[]),
    CAST(:is_update_data AS boolean[]), CAST(:requests_recovery AS boolean[]), CAST(:job_data AS text[]),
    CAST(:timeout_ms AS bigint[]), CAST(:retry_policy AS text[]), CAST(:node_affinity AS text[]),
    CAST(:sharding AS text[]), CAST(:job_plan AS text[])) AS r (job_name, job_group, description,
    job_class_name, is_durable, is_nonconcurrent, is_update_data, requests_recovery, job_data, timeout_ms,
    retry_policy, node_affinity, sharding, job_plan)
) AS r
WHERE true
ON CONFLICT (sched_name, job_name, job_group) DO UPDATE SET description = excluded.description,
  job_class_name = excluded.job_class_name, is_durable = excluded.is_durable,
  is_nonconcurrent = excluded.is_nonconcurrent, is_update_data = excluded.is_update_data,
  requests_recovery = excluded.requests_recovery, job_data = excluded.job_data,
  timeout_ms = excluded.timeout_ms, retry_policy = excluded.retry_policy,
  node_affinity = excluded.node_affinity, sharding = excluded.sharding, job_plan = excluded.job_plan;

-- jobs.load
--   programs/firing/firing.ts (fireTriggers)
--   programs/reading/reading.ts (getJob, getJobs)
--   programs/scheduling/definition-changes.ts (changeDefinitions)
--   programs/scheduling/deleting.ts (deleteJobs)
--   programs/scheduling/planning.ts (deletePlanned, putPlanned)
--   programs/scheduling/scheduling.ts (addJob, scheduleMany)
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
SELECT j.job_name, j.job_group, j.description, j.job_class_name, j.is_durable, j.is_nonconcurrent,
  j.is_update_data, j.requests_recovery, j.job_data, j.timeout_ms, j.retry_policy, j.node_affinity,
  j.sharding, j.job_plan
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = r.sched_name
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND true;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.description, j.job_class_name, j.is_durable, j.is_nonconcurrent,
  j.is_update_data, j.requests_recovery, j.job_data, j.timeout_ms, j.retry_policy, j.node_affinity,
  j.sharding, j.job_plan
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name);

-- jobs.lock
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/scheduling/ending-pauses.ts (endPause)
--   programs/scheduling/pausing.ts (pauseJob, resumeJob)
--   programs/steps/new-triggers.ts (lockJobs)
--   programs/steps/orphans.ts (deleteOrphans)
--   programs/steps/settling.ts (settleJobs)
-- SQLite
SELECT j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
  j.node_affinity, CASE WHEN length(j.job_data) > 0 THEN lower(hex(substr(j.job_data, 1,
  1))) = '7b' END AS data_is_json
FROM qrtz_job_details AS j
WHERE j.job_name = :job_name
  AND j.job_group = :job_group
  AND j.sched_name = :sched_name;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
  j.node_affinity, CASE WHEN length(j.job_data) > 0 THEN encode(substr(j.job_data, 1, 1),
  'hex') = '7b' END AS data_is_json
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name)
ORDER BY (j.job_group <> 'DEFAULT'), j.job_group COLLATE "C", j.job_name COLLATE "C"
FOR NO KEY UPDATE OF j;

-- jobs.lockShared
--   programs/steps/new-triggers.ts (lockJobs)
-- SQLite
SELECT j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
  j.node_affinity, CASE WHEN length(j.job_data) > 0 THEN lower(hex(substr(j.job_data, 1,
  1))) = '7b' END AS data_is_json
FROM qrtz_job_details AS j
WHERE j.job_name = :job_name
  AND j.job_group = :job_group
  AND j.sched_name = :sched_name;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
  j.node_affinity, CASE WHEN length(j.job_data) > 0 THEN encode(substr(j.job_data, 1, 1),
  'hex') = '7b' END AS data_is_json
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name)
ORDER BY (j.job_group <> 'DEFAULT'), j.job_group COLLATE "C", j.job_name COLLATE "C" FOR SHARE OF j;

-- jobs.lockLockedByExecutions
--   programs/steps/new-triggers.ts (lockJobs)
-- SQLite
SELECT 1 AS locked
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = r.sched_name
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND true
  AND (NOT j.is_durable OR j.is_nonconcurrent OR j.is_update_data OR j.requests_recovery)
ORDER BY (j.job_group <> 'DEFAULT'), j.job_group , j.job_name;

-- PostgreSQL
SELECT 1 AS locked
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name)
  AND (NOT j.is_durable OR j.is_nonconcurrent OR j.is_update_data OR j.requests_recovery)
ORDER BY (j.job_group <> 'DEFAULT'), j.job_group COLLATE "C", j.job_name COLLATE "C"
FOR NO KEY UPDATE OF j;

-- jobs.tryLock
--   programs/firing/acquiring.ts (searchTriggers)
--   programs/steps/passing-over.ts (tryLockJobs)
-- SQLite
SELECT j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
  j.node_affinity, CASE WHEN length(j.job_data) > 0 THEN lower(hex(substr(j.job_data, 1,
  1))) = '7b' END AS data_is_json
FROM qrtz_job_details AS j
WHERE j.job_name = :job_name
  AND j.job_group = :job_group
  AND j.sched_name = :sched_name;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
  j.node_affinity, CASE WHEN length(j.job_data) > 0 THEN encode(substr(j.job_data, 1, 1),
  'hex') = '7b' END AS data_is_json
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name)
ORDER BY (j.job_group <> 'DEFAULT'), j.job_group COLLATE "C", j.job_name COLLATE "C"
FOR NO KEY UPDATE OF j SKIP LOCKED;

-- jobs.tryLockWithData
--   programs/steps/passing-over.ts (tryLockJobs)
-- SQLite
SELECT j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
  j.node_affinity, CASE WHEN length(j.job_data) > 0 THEN lower(hex(substr(j.job_data, 1,
  1))) = '7b' END AS data_is_json, j.job_data, j.job_plan
FROM qrtz_job_details AS j
WHERE j.job_name = :job_name
  AND j.job_group = :job_group
  AND j.sched_name = :sched_name;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.job_class_name, j.is_durable, j.is_nonconcurrent, j.requests_recovery,
  j.node_affinity, CASE WHEN length(j.job_data) > 0 THEN encode(substr(j.job_data, 1, 1),
  'hex') = '7b' END AS data_is_json, j.job_data, j.job_plan
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name)
ORDER BY (j.job_group <> 'DEFAULT'), j.job_group COLLATE "C", j.job_name COLLATE "C"
FOR NO KEY UPDATE OF j SKIP LOCKED;

-- jobs.find
--   programs/steps/passing-over.ts (tryLockJobs)
--   session/sql-transactions.ts (SqlTransactions)
--   sql-shards.ts (SqlShards)
-- SQLite
SELECT j.job_name, j.job_group
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = r.sched_name
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND true;

-- PostgreSQL
SELECT j.job_name, j.job_group
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name);

-- jobs.writeData
--   programs/firing/completing.ts (completeJobs)
-- SQLite
UPDATE qrtz_job_details
SET job_data = CAST(:job_data AS BLOB)
WHERE job_name = :job_name
  AND job_group = :job_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_job_details AS t
SET job_data = convert_to(r.job_data, 'UTF8')
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text,
    job_data text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (t.job_group, t.job_name) >= (r.job_group, r.job_name);

-- jobs.deleteOrphans
--   programs/steps/orphans.ts (deleteFinishedJobs, deleteOrphans)
-- SQLite
DELETE FROM qrtz_job_details AS j
WHERE j.job_name = :job_name
  AND j.job_group = :job_group
  AND j.sched_name = :sched_name
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_triggers AS t
    WHERE t.job_name = j.job_name
      AND t.job_group = j.job_group
      AND t.sched_name = j.sched_name
  )
  AND NOT j.is_durable
RETURNING job_name, job_group;

-- PostgreSQL
DELETE FROM qrtz_job_details AS j USING (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_triggers AS t
    WHERE t.sched_name = ANY(ARRAY[j.sched_name])
      AND t.job_name = ANY(ARRAY[j.job_name])
      AND t.job_group = j.job_group
  )
  AND NOT j.is_durable
RETURNING j.job_name, j.job_group;

-- jobs.delete
--   programs/scheduling/deleting.ts (deleteJobs)
-- SQLite
DELETE FROM qrtz_job_details AS j
WHERE j.job_name = :job_name
  AND j.job_group = :job_group
  AND j.sched_name = :sched_name
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_triggers AS t
    WHERE t.job_name = j.job_name
      AND t.job_group = j.job_group
      AND t.sched_name = j.sched_name
  )
  AND true;

-- PostgreSQL
DELETE FROM qrtz_job_details AS j USING (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_triggers AS t
    WHERE t.sched_name = ANY(ARRAY[j.sched_name])
      AND t.job_name = ANY(ARRAY[j.job_name])
      AND t.job_group = j.job_group
  )
  AND true;

-- jobs.clear
--   programs/scheduling/deleting.ts (clear)
-- Every engine
DELETE FROM qrtz_job_details WHERE sched_name = :scheduler;

----------------------------------------------------------------------------------------
-- firedTriggers: fired_triggers: claims (ACQUIRED) and executions in flight (EXECUTING)
----------------------------------------------------------------------------------------

-- firedTriggers.tryLockOfInstance
--   cluster/recovery.ts (recoverInstance)
-- SQLite
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.instance_name, f.fired_time, f.sched_time, f.priority,
  f.state, f.job_name, f.job_group, f.is_nonconcurrent, f.requests_recovery
FROM qrtz_fired_triggers f
WHERE f.sched_name = :scheduler
  AND f.instance_name = :instance
ORDER BY f.entry_id;

-- PostgreSQL
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.instance_name, f.fired_time, f.sched_time, f.priority,
  f.state, f.job_name, f.job_group, f.is_nonconcurrent, f.requests_recovery
FROM qrtz_fired_triggers f
WHERE f.sched_name = :scheduler
  AND f.instance_name = :instance
ORDER BY f.entry_id
FOR NO KEY UPDATE OF f SKIP LOCKED;

-- firedTriggers.deleteOfInstance
--   cluster/recovery.ts (recoverInstance)
--   programs/firing/releasing.ts (release)
-- SQLite
DELETE FROM qrtz_fired_triggers AS f
WHERE (entry_id, sched_name) IN (
  SELECT r.entry_id, r.sched_name
  FROM (
    SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
  ) AS r
  WHERE true
)
  AND f.instance_name = :instance;

-- PostgreSQL
DELETE FROM qrtz_fired_triggers AS f USING (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)
) AS r
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.entry_id = r.entry_id
  AND r.sched_name = r.sched_name || ''
  AND f.instance_name = :instance;

-- firedTriggers.ownIds
--   cluster/unknown-firings.ts (UnknownFirings)
-- SQLite
SELECT f.entry_id
FROM qrtz_fired_triggers f
WHERE f.sched_name = :scheduler
  AND f.instance_name = :instance
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_awaited_results AS a
    WHERE a.fire_id = f.entry_id
      AND a.sched_name || '' = f.sched_name
  );

-- PostgreSQL
SELECT f.entry_id
FROM qrtz_fired_triggers f
WHERE f.sched_name = :scheduler
  AND f.instance_name = :instance
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_awaited_results AS a
    WHERE a.fire_id = f.entry_id
      AND a.sched_name || '' = f.sched_name OFFSET 0
  );

-- firedTriggers.allExecuting
--   cluster/recovery.ts (recoverAtStart)
--   sql-cluster.ts (SqlCluster)
-- Every engine
SELECT entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery
FROM qrtz_fired_triggers
WHERE sched_name = :scheduler
  AND state = 'EXECUTING'
ORDER BY fired_time, entry_id;

-- firedTriggers.countExecuting
--   sql-cluster.ts (SqlCluster)
-- Every engine
SELECT instance_name, count(*) AS executions
FROM qrtz_fired_triggers
WHERE sched_name = :scheduler
  AND state = 'EXECUTING'
GROUP BY instance_name;

-- firedTriggers.deleteAll
--   cluster/recovery.ts (recoverAtStart)
-- SQLite
DELETE FROM qrtz_fired_triggers AS f
WHERE f.sched_name = :scheduler
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_awaited_results AS a
    WHERE a.fire_id = f.entry_id
      AND a.sched_name || '' = f.sched_name
  )
RETURNING entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery;

-- PostgreSQL
DELETE FROM qrtz_fired_triggers AS f
WHERE f.sched_name = :scheduler
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_awaited_results AS a
    WHERE a.fire_id = f.entry_id
      AND a.sched_name || '' = f.sched_name OFFSET 0
  )
RETURNING entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery;

-- firedTriggers.ofTriggers
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
--   cluster/stuck-triggers.ts (freeStuckTriggers)
--   programs/steps/split-firings.ts (endLostItems)
-- SQLite
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.state, f.sched_time
FROM qrtz_fired_triggers f
  JOIN (
    SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS trigger_group,
      value ->> 'sched_name' AS sched_name
    FROM json_each(:rows)
  ) AS r ON f.sched_name = r.sched_name
    AND f.trigger_name = r.trigger_name
    AND f.trigger_group = r.trigger_group
    AND true;

-- PostgreSQL
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.state, f.sched_time
FROM qrtz_fired_triggers f
  JOIN (
    SELECT *
    FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
  ) AS r ON f.sched_name = ANY(ARRAY[r.sched_name])
    AND f.trigger_name = r.trigger_name
    AND f.trigger_group = r.trigger_group
    AND r.sched_name = r.sched_name || ''
    AND (f.trigger_group, f.trigger_name) >= (r.trigger_group, r.trigger_name);

-- firedTriggers.tryDeleteAwaited
--   programs/firing/completing.ts (completeJobs)
-- SQLite
DELETE FROM qrtz_fired_triggers AS t
WHERE t.rowid IN (
  SELECT f.rowid
  FROM (
    SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
  ) AS r
    CROSS JOIN qrtz_fired_triggers AS f
  WHERE f.sched_name = r.sched_name
    AND f.entry_id = r.entry_id
    AND true
    AND f.state = 'EXECUTING'
    AND EXISTS (
      SELECT 1
      FROM qrtz_awaited_results AS a
      WHERE a.fire_id = f.entry_id
        AND a.sched_name || '' = f.sched_name
    )
  ORDER BY f.entry_id
)
RETURNING entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery;

-- PostgreSQL
DELETE FROM qrtz_fired_triggers AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT f.ctid
    FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)) AS r
      CROSS JOIN qrtz_fired_triggers AS f
    WHERE f.sched_name = ANY(ARRAY[r.sched_name])
      AND f.entry_id = r.entry_id
      AND r.sched_name = r.sched_name || ''
      AND f.state = 'EXECUTING'
      AND EXISTS (
        SELECT 1
        FROM qrtz_awaited_results AS a
        WHERE a.fire_id = f.entry_id
          AND a.sched_name || '' = f.sched_name OFFSET 0
      )
    ORDER BY f.entry_id
    FOR NO KEY UPDATE OF f SKIP LOCKED
  )
)
RETURNING entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery;

-- firedTriggers.findAwaited
--   programs/firing/completing.ts (completeJobs)
--   programs/steps/ends-in-doubt.ts (endsInDoubt)
-- SQLite
SELECT f.entry_id
FROM (
  SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_fired_triggers AS f
WHERE f.sched_name = r.sched_name
  AND f.entry_id = r.entry_id
  AND true
  AND f.state = 'EXECUTING'
  AND EXISTS (
    SELECT 1
    FROM qrtz_awaited_results AS a
    WHERE a.fire_id = f.entry_id
      AND a.sched_name || '' = f.sched_name
  );

-- PostgreSQL
SELECT f.entry_id
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)) AS r
  CROSS JOIN qrtz_fired_triggers AS f
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.entry_id = r.entry_id
  AND r.sched_name = r.sched_name || ''
  AND f.state = 'EXECUTING'
  AND EXISTS (
    SELECT 1
    FROM qrtz_awaited_results AS a
    WHERE a.fire_id = f.entry_id
      AND a.sched_name || '' = f.sched_name OFFSET 0
  );

-- firedTriggers.takeOver
--   cluster/recovery.ts (recoverAtStart, recoverInstance)
-- SQLite
UPDATE qrtz_fired_triggers AS f
SET instance_name = :instance
FROM (
  SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
) AS r
WHERE f.sched_name = r.sched_name
  AND f.entry_id = r.entry_id
  AND true;

-- PostgreSQL
UPDATE qrtz_fired_triggers AS f
SET instance_name = :instance
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)) AS r
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.entry_id = r.entry_id
  AND r.sched_name = r.sched_name || '';

-- firedTriggers.executing
--   programs/firing/firing.ts (fireTriggers)
--   programs/steps/settling.ts (executingJobs)
-- SQLite
SELECT f.job_name, f.job_group, f.state
FROM qrtz_fired_triggers f
  JOIN (
    SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
      value ->> 'sched_name' AS sched_name
    FROM json_each(:rows)
  ) AS r ON f.sched_name = r.sched_name
    AND f.job_name = r.job_name
    AND f.job_group = r.job_group
    AND true
WHERE f.state = 'EXECUTING';

-- PostgreSQL
SELECT f.job_name, f.job_group, f.state
FROM qrtz_fired_triggers f
  JOIN (
    SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
  ) AS r ON f.sched_name = ANY(ARRAY[r.sched_name])
    AND f.job_name = ANY(ARRAY[r.job_name])
    AND f.job_group = r.job_group
    AND r.sched_name = r.sched_name || ''
WHERE f.state = 'EXECUTING';

-- firedTriggers.busy
--   programs/firing/acquiring.ts (searchTriggers)
-- SQLite
SELECT f.job_name, f.job_group, f.state
FROM qrtz_fired_triggers f
  JOIN (
    SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
      value ->> 'sched_name' AS sched_name
    FROM json_each(:rows)
  ) AS r ON f.sched_name = r.sched_name
    AND f.job_name = r.job_name
    AND f.job_group = r.job_group
    AND true;

-- PostgreSQL
SELECT f.job_name, f.job_group, f.state
FROM qrtz_fired_triggers f
  JOIN (
    SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
  ) AS r ON f.sched_name = ANY(ARRAY[r.sched_name])
    AND f.job_name = ANY(ARRAY[r.job_name])
    AND f.job_group = r.job_group
    AND r.sched_name = r.sched_name || '';

-- firedTriggers.markNonConcurrent
--   programs/steps/settling.ts (executingJobs)
-- SQLite
UPDATE qrtz_fired_triggers AS f
SET is_nonconcurrent = true
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE f.sched_name = r.sched_name
  AND f.job_name = r.job_name
  AND f.job_group = r.job_group
  AND true
  AND f.state = 'EXECUTING'
  AND NOT COALESCE(f.is_nonconcurrent, false);

-- PostgreSQL
UPDATE qrtz_fired_triggers AS f
SET is_nonconcurrent = true
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.job_name = ANY(ARRAY[r.job_name])
  AND f.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND f.state = 'EXECUTING'
  AND (
    NOT COALESCE(f.is_nonconcurrent, false)
      OR EXISTS (
        SELECT 1
        FROM qrtz_job_details AS j
        WHERE j.sched_name = ANY(ARRAY[f.sched_name])
          AND j.job_name = f.job_name
          AND j.job_group = f.job_group
          AND age(j.xmin) <= age(CAST(pg_current_xact_id() AS xid))
      )
  );

-- firedTriggers.endRecovery
--   programs/scheduling/former-work.ts (endFormerWork)
-- SQLite
UPDATE qrtz_fired_triggers AS f
SET requests_recovery = false
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE f.sched_name = r.sched_name
  AND f.job_name = r.job_name
  AND f.job_group = r.job_group
  AND true
  AND f.state = 'EXECUTING'
  AND f.requests_recovery;

-- PostgreSQL
UPDATE qrtz_fired_triggers AS f
SET requests_recovery = false
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.job_name = ANY(ARRAY[r.job_name])
  AND f.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND f.state = 'EXECUTING'
  AND f.requests_recovery;

-- firedTriggers.tryLockOverdueOfPeers
--   programs/firing/overdue-claims.ts (endOverdueClaims)
-- SQLite
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.instance_name, f.fired_time, f.sched_time, f.priority,
  f.state, f.job_name, f.job_group, f.is_nonconcurrent, f.requests_recovery
FROM qrtz_fired_triggers AS f
  CROSS JOIN qrtz_triggers AS t
WHERE f.sched_name = :scheduler
  AND f.state = 'ACQUIRED'
  AND f.instance_name <> :instance
  AND t.sched_name = f.sched_name
  AND t.trigger_name = f.trigger_name
  AND t.trigger_group = f.trigger_group
  AND t.trigger_state = 'ACQUIRED'
  AND t.next_fire_time <= :by
  AND f.fired_time <= :by
ORDER BY f.entry_id;

-- PostgreSQL
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.instance_name, f.fired_time, f.sched_time, f.priority,
  f.state, f.job_name, f.job_group, f.is_nonconcurrent, f.requests_recovery
FROM qrtz_fired_triggers AS f
  CROSS JOIN qrtz_triggers AS t
WHERE f.sched_name = :scheduler
  AND f.state = 'ACQUIRED'
  AND f.instance_name <> :instance
  AND t.sched_name = ANY(ARRAY[f.sched_name])
  AND t.trigger_name = f.trigger_name
  AND t.trigger_group = f.trigger_group
  AND t.trigger_state = 'ACQUIRED'
  AND t.next_fire_time <= :by
  AND f.fired_time <= :by
ORDER BY f.entry_id
FOR NO KEY UPDATE OF f SKIP LOCKED;

-- firedTriggers.insert
--   programs/firing/acquiring.ts (searchTriggers)
--   programs/firing/firing.ts (fireTriggers, fireUnclaimed)
--   programs/steps/firing-new.ts (NewFirings)
-- SQLite
INSERT INTO qrtz_fired_triggers (sched_name, entry_id, trigger_name, trigger_group, instance_name, fired_time,
  sched_time, priority, state, job_name, job_group, is_nonconcurrent, requests_recovery)
VALUES (:scheduler, :entry_id, :trigger_name, :trigger_group, :instance_name, :fired_time, :sched_time,
  :priority, :state, :job_name, :job_group, :is_nonconcurrent, :requests_recovery);

-- PostgreSQL
INSERT INTO qrtz_fired_triggers (sched_name, entry_id, trigger_name, trigger_group, instance_name, fired_time,
  sched_time, priority, state, job_name, job_group, is_nonconcurrent, requests_recovery)
SELECT :scheduler, r.entry_id, r.trigger_name, r.trigger_group, r.instance_name, r.fired_time, r.sched_time,
  r.priority, r.state, r.job_name, r.job_group, r.is_nonconcurrent, r.requests_recovery
FROM (
  SELECT *
  FROM unnest(CAST(:entry_id AS text[]), CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]),
    CAST(:instance_name AS text[]), CAST(:fired_time AS bigint[]), CAST(:sched_time AS bigint[]),
    CAST(:priority AS bigint[]), CAST(:state AS text[]), CAST(:job_name AS text[]),
    CAST(:job_group AS text[]), CAST(:is_nonconcurrent AS boolean[]),
    CAST(:requests_recovery AS boolean[])) AS r (entry_id, trigger_name, trigger_group, instance_name,
    fired_time, sched_time, priority, state, job_name, job_group, is_nonconcurrent, requests_recovery)
) AS r
WHERE true;

-- firedTriggers.tryLock
--   programs/firing/firing.ts (fireTriggers)
--   programs/firing/releasing.ts (releaseTriggers)
-- SQLite
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.instance_name, f.fired_time, f.sched_time, f.priority,
  f.state, f.job_name, f.job_group, f.is_nonconcurrent, f.requests_recovery
FROM (
  SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_fired_triggers AS f
WHERE f.sched_name = r.sched_name
  AND f.entry_id = r.entry_id
  AND true
  AND f.instance_name = :instance
  AND f.state = :state
ORDER BY f.entry_id;

-- PostgreSQL
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.instance_name, f.fired_time, f.sched_time, f.priority,
  f.state, f.job_name, f.job_group, f.is_nonconcurrent, f.requests_recovery
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)) AS r
  CROSS JOIN qrtz_fired_triggers AS f
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.entry_id = r.entry_id
  AND r.sched_name = r.sched_name || ''
  AND f.instance_name = :instance
  AND f.state = :state
ORDER BY f.entry_id
FOR NO KEY UPDATE OF f SKIP LOCKED;

-- firedTriggers.tryLockAllClaims
--   programs/firing/releasing.ts (releaseAllTriggers)
-- SQLite
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.instance_name, f.fired_time, f.sched_time, f.priority,
  f.state, f.job_name, f.job_group, f.is_nonconcurrent, f.requests_recovery
FROM qrtz_fired_triggers f
WHERE f.sched_name = :scheduler
  AND f.instance_name = :instance
  AND f.state = 'ACQUIRED'
ORDER BY f.entry_id;

-- PostgreSQL
SELECT f.entry_id, f.trigger_name, f.trigger_group, f.instance_name, f.fired_time, f.sched_time, f.priority,
  f.state, f.job_name, f.job_group, f.is_nonconcurrent, f.requests_recovery
FROM qrtz_fired_triggers f
WHERE f.sched_name = :scheduler
  AND f.instance_name = :instance
  AND f.state = 'ACQUIRED'
ORDER BY f.entry_id
FOR NO KEY UPDATE OF f SKIP LOCKED;

-- firedTriggers.find
--   programs/firing/completing.ts (completeJobs)
--   programs/firing/firing.ts (fireTriggers)
--   programs/firing/releasing.ts (releaseTriggers)
--   programs/steps/firing-in-doubt.ts (firingInDoubt)
-- SQLite
SELECT f.entry_id
FROM (
  SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_fired_triggers AS f
WHERE f.sched_name = r.sched_name
  AND f.entry_id = r.entry_id
  AND true
  AND f.instance_name = :instance
  AND f.state = :state;

-- PostgreSQL
SELECT f.entry_id
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)) AS r
  CROSS JOIN qrtz_fired_triggers AS f
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.entry_id = r.entry_id
  AND r.sched_name = r.sched_name || ''
  AND f.instance_name = :instance
  AND f.state = :state;

-- firedTriggers.tryDelete
--   programs/firing/completing.ts (completeJobs)
-- SQLite
DELETE FROM qrtz_fired_triggers AS t
WHERE t.rowid IN (
  SELECT f.rowid
  FROM (
    SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
  ) AS r
    CROSS JOIN qrtz_fired_triggers AS f
  WHERE f.sched_name = r.sched_name
    AND f.entry_id = r.entry_id
    AND true
    AND f.instance_name = :instance
    AND f.state = :state
  ORDER BY f.entry_id
)
RETURNING entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery;

-- PostgreSQL
DELETE FROM qrtz_fired_triggers AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT f.ctid
    FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)) AS r
      CROSS JOIN qrtz_fired_triggers AS f
    WHERE f.sched_name = ANY(ARRAY[r.sched_name])
      AND f.entry_id = r.entry_id
      AND r.sched_name = r.sched_name || ''
      AND f.instance_name = :instance
      AND f.state = :state
    ORDER BY f.entry_id
    FOR NO KEY UPDATE OF f SKIP LOCKED
  )
)
RETURNING entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery;

-- firedTriggers.begin
--   programs/firing/firing.ts (fireTriggers)
-- SQLite
UPDATE qrtz_fired_triggers AS f
SET state = 'EXECUTING', fired_time = :now
FROM (
  SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
) AS r
WHERE f.sched_name = r.sched_name
  AND f.entry_id = r.entry_id
  AND true
  AND f.instance_name = :instance
  AND f.state = 'ACQUIRED';

-- PostgreSQL
UPDATE qrtz_fired_triggers AS f
SET state = 'EXECUTING', fired_time = :now
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)) AS r
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.entry_id = r.entry_id
  AND r.sched_name = r.sched_name || ''
  AND f.instance_name = :instance
  AND f.state = 'ACQUIRED';

-- firedTriggers.amend
--   programs/firing/firing.ts (fireTriggers)
-- SQLite
UPDATE qrtz_fired_triggers
SET is_nonconcurrent = :is_nonconcurrent, requests_recovery = :requests_recovery
WHERE entry_id = :entry_id
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_fired_triggers AS t
SET is_nonconcurrent = r.is_nonconcurrent, requests_recovery = r.requests_recovery
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text, is_nonconcurrent boolean,
    requests_recovery boolean)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.entry_id = r.entry_id
  AND r.sched_name = r.sched_name || '';

-- firedTriggers.delete
--   programs/firing/firing.ts (fireTriggers)
--   programs/firing/splitting.ts (splitFirings)
-- SQLite
DELETE FROM qrtz_fired_triggers AS f
WHERE (entry_id, sched_name) IN (
  SELECT r.entry_id, r.sched_name
  FROM (
    SELECT value ->> 'entry_id' AS entry_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
  ) AS r
  WHERE true
)
  AND f.instance_name = :instance
  AND f.state = :state;

-- PostgreSQL
DELETE FROM qrtz_fired_triggers AS f USING (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id text, sched_name text)
) AS r
WHERE f.sched_name = ANY(ARRAY[r.sched_name])
  AND f.entry_id = r.entry_id
  AND r.sched_name = r.sched_name || ''
  AND f.instance_name = :instance
  AND f.state = :state;

-- firedTriggers.deleteStaleClaims
--   programs/firing/completing.ts (completeJobs)
--   programs/scheduling/deleting.ts (clear)
--   programs/steps/ended-claims.ts (endStaleClaims)
-- SQLite
DELETE FROM qrtz_fired_triggers
WHERE sched_name = :scheduler
  AND entry_id IN (
    SELECT f.entry_id
    FROM qrtz_fired_triggers f
    WHERE f.sched_name = :scheduler
      AND f.state = 'ACQUIRED'
      AND NOT EXISTS (
        SELECT 1
        FROM qrtz_triggers t
        WHERE t.sched_name = f.sched_name
          AND t.trigger_name = f.trigger_name
          AND t.trigger_group = f.trigger_group
          AND t.trigger_state = 'ACQUIRED'
      )
  )
RETURNING entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery;

-- PostgreSQL
DELETE FROM qrtz_fired_triggers
WHERE sched_name = :scheduler
  AND entry_id IN (
    SELECT f.entry_id
    FROM qrtz_fired_triggers f
    WHERE f.sched_name = :scheduler
      AND f.state = 'ACQUIRED'
      AND NOT EXISTS (
        SELECT 1
        FROM qrtz_triggers t
        WHERE t.sched_name = ANY(ARRAY[f.sched_name])
          AND t.trigger_name = f.trigger_name
          AND t.trigger_group = f.trigger_group
          AND t.trigger_state = 'ACQUIRED'
      )
    FOR NO KEY UPDATE OF f
  )
RETURNING entry_id, trigger_name, trigger_group, instance_name, fired_time, sched_time, priority, state,
  job_name, job_group, is_nonconcurrent, requests_recovery;

--------------------------------------------------------------------------------------------------
-- plainEnds: ends of executions whose rows are as they were written, with their triggers and jobs
--------------------------------------------------------------------------------------------------

-- plainEnds.endExecution
--   programs/steps/plain-ends.ts (endPlain)
DELETE FROM qrtz_fired_triggers
WHERE sched_name = :sched_name
  AND entry_id = :entry_id
  AND instance_name = :instance_name
  AND job_name = :job_name
  AND job_group = :job_group
  AND state = 'EXECUTING'
  AND is_nonconcurrent = false;

-- plainEnds.deleteSubRow.simple_triggers
--   programs/steps/plain-ends.ts (endPlain)
DELETE FROM qrtz_simple_triggers AS s
WHERE s.sched_name = :sched_name
  AND s.trigger_name = :trigger_name
  AND s.trigger_group = :trigger_group
  AND EXISTS (
    SELECT 1
    FROM qrtz_triggers AS t
    WHERE t.sched_name = s.sched_name
      AND t.trigger_name = s.trigger_name
      AND t.trigger_group = s.trigger_group
      AND t.trigger_type = :trigger_type
      AND t.job_name = :job_name
      AND t.job_group = :job_group
      AND t.trigger_state = 'COMPLETE'
      AND t.next_fire_time IS NULL
  );

-- plainEnds.deleteSubRow.cron_triggers
--   programs/steps/plain-ends.ts (endPlain)
DELETE FROM qrtz_cron_triggers AS s
WHERE s.sched_name = :sched_name
  AND s.trigger_name = :trigger_name
  AND s.trigger_group = :trigger_group
  AND EXISTS (
    SELECT 1
    FROM qrtz_triggers AS t
    WHERE t.sched_name = s.sched_name
      AND t.trigger_name = s.trigger_name
      AND t.trigger_group = s.trigger_group
      AND t.trigger_type = :trigger_type
      AND t.job_name = :job_name
      AND t.job_group = :job_group
      AND t.trigger_state = 'COMPLETE'
      AND t.next_fire_time IS NULL
  );

-- plainEnds.deleteSubRow.simprop_triggers
--   programs/steps/plain-ends.ts (endPlain)
DELETE FROM qrtz_simprop_triggers AS s
WHERE s.sched_name = :sched_name
  AND s.trigger_name = :trigger_name
  AND s.trigger_group = :trigger_group
  AND EXISTS (
    SELECT 1
    FROM qrtz_triggers AS t
    WHERE t.sched_name = s.sched_name
      AND t.trigger_name = s.trigger_name
      AND t.trigger_group = s.trigger_group
      AND t.trigger_type = :trigger_type
      AND t.job_name = :job_name
      AND t.job_group = :job_group
      AND t.trigger_state = 'COMPLETE'
      AND t.next_fire_time IS NULL
  );

-- plainEnds.deleteTrigger
--   programs/steps/plain-ends.ts (endPlain)
DELETE FROM qrtz_triggers
WHERE trigger_name = :trigger_name
  AND trigger_group = :trigger_group
  AND sched_name = :sched_name;

-- plainEnds.deleteJob
--   programs/steps/plain-ends.ts (endPlain)
DELETE FROM qrtz_job_details AS j
WHERE j.job_name = :job_name
  AND j.job_group = :job_group
  AND j.sched_name = :sched_name
  AND j.is_durable = false
  AND j.requests_recovery = false
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_triggers AS t
    WHERE t.sched_name = j.sched_name
      AND t.job_name = j.job_name
      AND t.job_group = j.job_group
  );

---------------------------------------------------------------
-- lockedEnds: the same, where other transactions write as well
---------------------------------------------------------------

-- lockedEnds.lockJobs
--   programs/steps/plain-ends.ts (endPlain)
SELECT count(*) AS locked
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN LATERAL (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = r.sched_name
      AND j.job_name = r.job_name
      AND j.job_group = r.job_group
      AND NOT j.is_durable
    FOR NO KEY UPDATE OF j SKIP LOCKED
  ) AS j;

-- lockedEnds.endExecutions
--   programs/steps/plain-ends.ts (endPlain)
WITH e AS MATERIALIZED (SELECT * FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id
  text, job_name text, job_group text)) AS r), l AS MATERIALIZED (
  SELECT e.entry_id, f.id AS fired_id
  FROM e
    CROSS JOIN LATERAL (
      SELECT f.ctid AS id
      FROM qrtz_fired_triggers AS f
        CROSS JOIN LATERAL (SELECT f.ctid AS id OFFSET 0) AS found
      WHERE f.sched_name = :scheduler
        AND f.entry_id = e.entry_id
        AND f.instance_name = :instance
        AND f.state = 'EXECUTING'
        AND NOT f.is_nonconcurrent
        AND f.job_name = e.job_name
        AND f.job_group = e.job_group
        AND COALESCE(found.id = f.ctid, false)
      FOR NO KEY UPDATE OF f SKIP LOCKED
    ) AS f
), firings AS (DELETE FROM qrtz_fired_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.fired_id FROM l)))
SELECT CAST(json_agg(l.entry_id) AS text) AS ended
FROM l;

-- lockedEnds.endLast.simple_triggers
--   programs/steps/plain-ends.ts (endPlain)
WITH e AS MATERIALIZED (SELECT * FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id
  text, job_name text, job_group text, trigger_name text, trigger_group text, trigger_type text)) AS r),
  l AS MATERIALIZED (
  SELECT e.entry_id, e.job_name, e.job_group, j.id AS job_id, j.is_durable, t.id AS trigger_id,
    s.id AS sub_id, f.id AS fired_id
  FROM e
    CROSS JOIN LATERAL (
      SELECT j.ctid AS id, j.is_durable
      FROM qrtz_job_details AS j
      WHERE j.sched_name = :scheduler
        AND j.job_name = e.job_name
        AND j.job_group = e.job_group
        AND NOT j.requests_recovery
        AND (j.is_durable OR j.xmax = CAST(pg_current_xact_id() AS xid)) OFFSET 0
    ) AS j
    CROSS JOIN LATERAL (
      SELECT t.ctid AS id
      FROM qrtz_triggers AS t
        CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
      WHERE t.sched_name = :scheduler
        AND t.trigger_name = e.trigger_name
        AND t.trigger_group = e.trigger_group
        AND t.job_name = e.job_name
        AND t.job_group = e.job_group
        AND t.trigger_type = e.trigger_type
        AND t.trigger_state = 'COMPLETE'
        AND t.next_fire_time IS NULL
        AND COALESCE(found.id = t.ctid, false)
      FOR NO KEY UPDATE OF t SKIP LOCKED
    ) AS t
    CROSS JOIN LATERAL (
      SELECT s.ctid AS id
      FROM qrtz_simple_triggers AS s
      WHERE s.sched_name = :scheduler
        AND s.trigger_name = e.trigger_name
        AND s.trigger_group = e.trigger_group OFFSET 0
    ) AS s
    CROSS JOIN LATERAL (
      SELECT f.ctid AS id
      FROM qrtz_fired_triggers AS f
        CROSS JOIN LATERAL (SELECT f.ctid AS id OFFSET 0) AS found
      WHERE f.sched_name = :scheduler
        AND f.entry_id = e.entry_id
        AND f.instance_name = :instance
        AND f.state = 'EXECUTING'
        AND NOT f.is_nonconcurrent
        AND f.job_name = e.job_name
        AND f.job_group = e.job_group
        AND COALESCE(found.id = f.ctid, false)
      FOR NO KEY UPDATE OF f SKIP LOCKED
    ) AS f
), firings AS (DELETE FROM qrtz_fired_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.fired_id FROM l))),
  subs AS (DELETE FROM qrtz_simple_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.sub_id FROM l))),
  triggers AS (DELETE FROM qrtz_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.trigger_id FROM l))),
  jobs AS (DELETE FROM qrtz_job_details AS d WHERE d.ctid = ANY(
  ARRAY(
    SELECT l.job_id
    FROM l
    WHERE NOT l.is_durable
      AND NOT EXISTS (
        SELECT 1
        FROM qrtz_triggers AS o
        WHERE o.job_name = l.job_name
          AND o.job_group = l.job_group
          AND o.sched_name || '' = :scheduler
          AND o.ctid NOT IN (SELECT l.trigger_id FROM l) OFFSET 0
      )
  )
) RETURNING d.ctid AS id)
SELECT (SELECT CAST(json_agg(l.entry_id) AS text) FROM l) AS ended, (
  SELECT CAST(json_agg(l.entry_id) AS text)
  FROM l
  WHERE l.job_id IN (SELECT jobs.id FROM jobs)
) AS jobs_deleted;

-- lockedEnds.endLast.cron_triggers
--   programs/steps/plain-ends.ts (endPlain)
WITH e AS MATERIALIZED (SELECT * FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id
  text, job_name text, job_group text, trigger_name text, trigger_group text, trigger_type text)) AS r),
  l AS MATERIALIZED (
  SELECT e.entry_id, e.job_name, e.job_group, j.id AS job_id, j.is_durable, t.id AS trigger_id,
    s.id AS sub_id, f.id AS fired_id
  FROM e
    CROSS JOIN LATERAL (
      SELECT j.ctid AS id, j.is_durable
      FROM qrtz_job_details AS j
      WHERE j.sched_name = :scheduler
        AND j.job_name = e.job_name
        AND j.job_group = e.job_group
        AND NOT j.requests_recovery
        AND (j.is_durable OR j.xmax = CAST(pg_current_xact_id() AS xid)) OFFSET 0
    ) AS j
    CROSS JOIN LATERAL (
      SELECT t.ctid AS id
      FROM qrtz_triggers AS t
        CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
      WHERE t.sched_name = :scheduler
        AND t.trigger_name = e.trigger_name
        AND t.trigger_group = e.trigger_group
        AND t.job_name = e.job_name
        AND t.job_group = e.job_group
        AND t.trigger_type = e.trigger_type
        AND t.trigger_state = 'COMPLETE'
        AND t.next_fire_time IS NULL
        AND COALESCE(found.id = t.ctid, false)
      FOR NO KEY UPDATE OF t SKIP LOCKED
    ) AS t
    CROSS JOIN LATERAL (
      SELECT s.ctid AS id
      FROM qrtz_cron_triggers AS s
      WHERE s.sched_name = :scheduler
        AND s.trigger_name = e.trigger_name
        AND s.trigger_group = e.trigger_group OFFSET 0
    ) AS s
    CROSS JOIN LATERAL (
      SELECT f.ctid AS id
      FROM qrtz_fired_triggers AS f
        CROSS JOIN LATERAL (SELECT f.ctid AS id OFFSET 0) AS found
      WHERE f.sched_name = :scheduler
        AND f.entry_id = e.entry_id
        AND f.instance_name = :instance
        AND f.state = 'EXECUTING'
        AND NOT f.is_nonconcurrent
        AND f.job_name = e.job_name
        AND f.job_group = e.job_group
        AND COALESCE(found.id = f.ctid, false)
      FOR NO KEY UPDATE OF f SKIP LOCKED
    ) AS f
), firings AS (DELETE FROM qrtz_fired_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.fired_id FROM l))),
  subs AS (DELETE FROM qrtz_cron_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.sub_id FROM l))),
  triggers AS (DELETE FROM qrtz_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.trigger_id FROM l))),
  jobs AS (DELETE FROM qrtz_job_details AS d WHERE d.ctid = ANY(
  ARRAY(
    SELECT l.job_id
    FROM l
    WHERE NOT l.is_durable
      AND NOT EXISTS (
        SELECT 1
        FROM qrtz_triggers AS o
        WHERE o.job_name = l.job_name
          AND o.job_group = l.job_group
          AND o.sched_name || '' = :scheduler
          AND o.ctid NOT IN (SELECT l.trigger_id FROM l) OFFSET 0
      )
  )
) RETURNING d.ctid AS id)
SELECT (SELECT CAST(json_agg(l.entry_id) AS text) FROM l) AS ended, (
  SELECT CAST(json_agg(l.entry_id) AS text)
  FROM l
  WHERE l.job_id IN (SELECT jobs.id FROM jobs)
) AS jobs_deleted;

-- lockedEnds.endLast.simprop_triggers
--   programs/steps/plain-ends.ts (endPlain)
WITH e AS MATERIALIZED (SELECT * FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(entry_id
  text, job_name text, job_group text, trigger_name text, trigger_group text, trigger_type text)) AS r),
  l AS MATERIALIZED (
  SELECT e.entry_id, e.job_name, e.job_group, j.id AS job_id, j.is_durable, t.id AS trigger_id,
    s.id AS sub_id, f.id AS fired_id
  FROM e
    CROSS JOIN LATERAL (
      SELECT j.ctid AS id, j.is_durable
      FROM qrtz_job_details AS j
      WHERE j.sched_name = :scheduler
        AND j.job_name = e.job_name
        AND j.job_group = e.job_group
        AND NOT j.requests_recovery
        AND (j.is_durable OR j.xmax = CAST(pg_current_xact_id() AS xid)) OFFSET 0
    ) AS j
    CROSS JOIN LATERAL (
      SELECT t.ctid AS id
      FROM qrtz_triggers AS t
        CROSS JOIN LATERAL (SELECT t.ctid AS id OFFSET 0) AS found
      WHERE t.sched_name = :scheduler
        AND t.trigger_name = e.trigger_name
        AND t.trigger_group = e.trigger_group
        AND t.job_name = e.job_name
        AND t.job_group = e.job_group
        AND t.trigger_type = e.trigger_type
        AND t.trigger_state = 'COMPLETE'
        AND t.next_fire_time IS NULL
        AND COALESCE(found.id = t.ctid, false)
      FOR NO KEY UPDATE OF t SKIP LOCKED
    ) AS t
    CROSS JOIN LATERAL (
      SELECT s.ctid AS id
      FROM qrtz_simprop_triggers AS s
      WHERE s.sched_name = :scheduler
        AND s.trigger_name = e.trigger_name
        AND s.trigger_group = e.trigger_group OFFSET 0
    ) AS s
    CROSS JOIN LATERAL (
      SELECT f.ctid AS id
      FROM qrtz_fired_triggers AS f
        CROSS JOIN LATERAL (SELECT f.ctid AS id OFFSET 0) AS found
      WHERE f.sched_name = :scheduler
        AND f.entry_id = e.entry_id
        AND f.instance_name = :instance
        AND f.state = 'EXECUTING'
        AND NOT f.is_nonconcurrent
        AND f.job_name = e.job_name
        AND f.job_group = e.job_group
        AND COALESCE(found.id = f.ctid, false)
      FOR NO KEY UPDATE OF f SKIP LOCKED
    ) AS f
), firings AS (DELETE FROM qrtz_fired_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.fired_id FROM l))),
  subs AS (DELETE FROM qrtz_simprop_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.sub_id FROM l))),
  triggers AS (DELETE FROM qrtz_triggers AS d WHERE d.ctid = ANY(ARRAY(SELECT l.trigger_id FROM l))),
  jobs AS (DELETE FROM qrtz_job_details AS d WHERE d.ctid = ANY(
  ARRAY(
    SELECT l.job_id
    FROM l
    WHERE NOT l.is_durable
      AND NOT EXISTS (
        SELECT 1
        FROM qrtz_triggers AS o
        WHERE o.job_name = l.job_name
          AND o.job_group = l.job_group
          AND o.sched_name || '' = :scheduler
          AND o.ctid NOT IN (SELECT l.trigger_id FROM l) OFFSET 0
      )
  )
) RETURNING d.ctid AS id)
SELECT (SELECT CAST(json_agg(l.entry_id) AS text) FROM l) AS ended, (
  SELECT CAST(json_agg(l.entry_id) AS text)
  FROM l
  WHERE l.job_id IN (SELECT jobs.id FROM jobs)
) AS jobs_deleted;

---------------------------------------------------------------------------
-- splitFirings: split_firings: firings of sharded jobs that have not ended
---------------------------------------------------------------------------

-- splitFirings.load
--   cluster/lost-items.ts (hasItemsOfGone, offerAllItemsOfGone, settleLostItems)
--   programs/scheduling/former-work.ts (endFormerWork)
--   programs/steps/split-firings.ts (loadOpenFirings)
--   sql-cluster.ts (SqlCluster)
--   sql-shards.ts (SqlShards)
-- SQLite
SELECT s.fire_id, s.job_name, s.job_group, s.trigger_name, s.trigger_group, s.instance_name, s.planned_time,
  s.fired_time, s.parts
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_split_firings AS s
WHERE s.sched_name = r.sched_name
  AND s.job_name = r.job_name
  AND s.job_group = r.job_group
  AND true;

-- PostgreSQL
SELECT s.fire_id, s.job_name, s.job_group, s.trigger_name, s.trigger_group, s.instance_name, s.planned_time,
  s.fired_time, s.parts
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_split_firings AS s
WHERE s.sched_name = ANY(ARRAY[r.sched_name])
  AND s.job_name = ANY(ARRAY[r.job_name])
  AND s.job_group = r.job_group
  AND r.sched_name = r.sched_name || '';

-- splitFirings.put
--   programs/steps/split-firings.ts (writeSettled)
-- SQLite
INSERT INTO qrtz_split_firings (sched_name, fire_id, job_name, job_group, trigger_name, trigger_group,
  instance_name, planned_time, fired_time, parts)
VALUES (:scheduler, :fire_id, :job_name, :job_group, :trigger_name, :trigger_group, :instance_name,
  :planned_time, :fired_time, :parts)
ON CONFLICT (sched_name, fire_id) DO UPDATE SET job_name = excluded.job_name, job_group = excluded.job_group,
  trigger_name = excluded.trigger_name, trigger_group = excluded.trigger_group,
  instance_name = excluded.instance_name, planned_time = excluded.planned_time,
  fired_time = excluded.fired_time, parts = excluded.parts;

-- PostgreSQL
INSERT INTO qrtz_split_firings (sched_name, fire_id, job_name, job_group, trigger_name, trigger_group,
  instance_name, planned_time, fired_time, parts)
SELECT :scheduler, r.fire_id, r.job_name, r.job_group, r.trigger_name, r.trigger_group, r.instance_name,
  r.planned_time, r.fired_time, r.parts
FROM (
  SELECT *
  FROM unnest(CAST(:fire_id AS text[]), CAST(:job_name AS text[]), CAST(:job_group AS text[]),
    CAST(:trigger_name AS text[]), CAST(:trigger_group AS text[]), CAST(:instance_name AS text[]),
    CAST(:planned_time AS bigint[]), CAST(:fired_time AS bigint[]), CAST(:parts AS text[])) AS r (fire_id,
    job_name, job_group, trigger_name, trigger_group, instance_name, planned_time, fired_time, parts)
) AS r
WHERE true
ON CONFLICT (sched_name, fire_id) DO UPDATE SET job_name = excluded.job_name, job_group = excluded.job_group,
  trigger_name = excluded.trigger_name, trigger_group = excluded.trigger_group,
  instance_name = excluded.instance_name, planned_time = excluded.planned_time,
  fired_time = excluded.fired_time, parts = excluded.parts;

-- splitFirings.delete
--   programs/scheduling/former-work.ts (endFormerWork)
--   programs/steps/split-firings.ts (openFiringsOf, writeSettled)
-- SQLite
DELETE FROM qrtz_split_firings WHERE fire_id = :fire_id AND sched_name = :sched_name;

-- PostgreSQL
DELETE FROM qrtz_split_firings AS t USING (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(fire_id text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.fire_id = r.fire_id
  AND r.sched_name = r.sched_name || ''
  AND true;

-- splitFirings.forgetDeleted
--   cluster/lost-items.ts (settleLostItems)
--   programs/scheduling/deleting.ts (deleteJobs)
--   programs/steps/orphans.ts (deleteOrphans)
-- SQLite
DELETE FROM qrtz_split_firings AS s
WHERE (job_name, job_group, sched_name) IN (
  SELECT r.job_name, r.job_group, r.sched_name
  FROM (
    SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
      value ->> 'sched_name' AS sched_name
    FROM json_each(:rows)
  ) AS r
  WHERE true
)
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = s.sched_name
      AND j.job_name = s.job_name
      AND j.job_group = s.job_group
  );

-- PostgreSQL
DELETE FROM qrtz_split_firings AS s USING (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE s.sched_name = ANY(ARRAY[r.sched_name])
  AND s.job_name = ANY(ARRAY[r.job_name])
  AND s.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[s.sched_name])
      AND j.job_name = s.job_name
      AND j.job_group = s.job_group
  );

-- splitFirings.jobs
--   cluster/lost-items.ts (hasItemsOfGone, offerAllItemsOfGone, settleAllLostItems, settleLostItems)
-- SQLite
SELECT s.job_name, s.job_group
FROM qrtz_split_firings AS s
WHERE s.sched_name = :scheduler
  AND (s.job_group, s.job_name) > (:afterGroup, :afterName)
GROUP BY s.job_name, s.job_group
ORDER BY s.job_group, s.job_name
LIMIT :limit;

-- PostgreSQL
SELECT s.job_name, s.job_group
FROM qrtz_split_firings AS s
WHERE s.sched_name = :scheduler
  AND (s.job_group COLLATE "C", s.job_name COLLATE "C") > (:afterGroup, :afterName)
GROUP BY s.job_name, s.job_group
ORDER BY s.job_group COLLATE "C", s.job_name COLLATE "C"
LIMIT :limit;

-- splitFirings.disabledItems
--   sql-shards.ts (SqlShards)
-- SQLite
SELECT j.job_name, j.job_group, j.shards_off
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = r.sched_name
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND true
  AND j.shards_off IS NOT NULL;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.shards_off
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_job_details AS j
WHERE j.sched_name = ANY(ARRAY[r.sched_name])
  AND j.job_name = r.job_name
  AND j.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (j.job_group, j.job_name) >= (r.job_group, r.job_name)
  AND j.shards_off IS NOT NULL;

-- splitFirings.setDisabledItems
--   sql-shards.ts (SqlShards)
-- SQLite
UPDATE qrtz_job_details
SET shards_off = :shards_off
WHERE job_name = :job_name
  AND job_group = :job_group
  AND sched_name = :sched_name;

-- PostgreSQL
UPDATE qrtz_job_details AS t
SET shards_off = r.shards_off
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text,
    shards_off text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.job_name = r.job_name
  AND t.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND (t.job_group, t.job_name) >= (r.job_group, r.job_name);

-- splitFirings.clear
--   programs/scheduling/deleting.ts (clear)
-- Every engine
DELETE FROM qrtz_split_firings WHERE sched_name = :scheduler;

-----------------------------------------------------------------------------
-- awaitedResults: awaited_results: executions in flight that go on elsewhere
-----------------------------------------------------------------------------

-- awaitedResults.insert
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
INSERT INTO qrtz_awaited_results (sched_name, reference, fire_id, job_name, job_group, deadline, details)
SELECT f.sched_name, r.reference, r.fire_id, r.job_name, r.job_group, r.deadline, r.details
FROM (
  SELECT value ->> 'reference' AS reference, value ->> 'fire_id' AS fire_id, value ->> 'job_name' AS job_name,
    value ->> 'job_group' AS job_group, value ->> 'deadline' AS deadline, value ->> 'details' AS details
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_fired_triggers AS f
WHERE f.sched_name = :scheduler
  AND f.entry_id = r.fire_id
  AND f.instance_name = :instance
  AND f.state = 'EXECUTING'
ORDER BY f.entry_id
ON CONFLICT DO NOTHING
RETURNING reference, fire_id;

-- PostgreSQL
INSERT INTO qrtz_awaited_results (sched_name, reference, fire_id, job_name, job_group, deadline, details)
SELECT f.sched_name, r.reference, r.fire_id, r.job_name, r.job_group, r.deadline, r.details
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(reference text, fire_id text, job_name text,
    job_group text, deadline bigint, details text)
) AS r
  CROSS JOIN qrtz_fired_triggers AS f
WHERE f.sched_name = :scheduler
  AND f.entry_id = r.fire_id
  AND f.instance_name = :instance
  AND f.state = 'EXECUTING'
ORDER BY f.entry_id
FOR NO KEY UPDATE OF f
ON CONFLICT DO NOTHING
RETURNING reference, fire_id;

-- awaitedResults.firingsOf
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
SELECT a.reference, a.fire_id
FROM (
  SELECT value ->> 'reference' AS reference, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = r.sched_name
  AND a.reference = r.reference
  AND true;

-- PostgreSQL
SELECT a.reference, a.fire_id
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(reference text, sched_name text)) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = ANY(ARRAY[r.sched_name])
  AND a.reference = r.reference
  AND r.sched_name = r.sched_name || '';

-- awaitedResults.find
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM (
  SELECT value ->> 'reference' AS reference, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = r.sched_name
  AND a.reference = r.reference
  AND true
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING'
  );

-- PostgreSQL
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(reference text, sched_name text)) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = ANY(ARRAY[r.sched_name])
  AND a.reference = r.reference
  AND r.sched_name = r.sched_name || ''
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING' OFFSET 0
  );

-- awaitedResults.ofJob
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = r.sched_name
  AND a.job_name = r.job_name
  AND a.job_group = r.job_group
  AND true
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING'
  )
LIMIT 500;

-- PostgreSQL
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = ANY(ARRAY[r.sched_name])
  AND a.job_name = ANY(ARRAY[r.job_name])
  AND a.job_group = r.job_group
  AND r.sched_name = r.sched_name || ''
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING' OFFSET 0
  )
LIMIT 500;

-- awaitedResults.ofFiring
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM (SELECT value ->> 'fire_id' AS fire_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = r.sched_name
  AND a.fire_id = r.fire_id
  AND true
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING'
  );

-- PostgreSQL
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(fire_id text, sched_name text)) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = ANY(ARRAY[r.sched_name])
  AND a.fire_id = ANY(ARRAY[r.fire_id])
  AND r.sched_name = r.sched_name || ''
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING' OFFSET 0
  );

-- awaitedResults.among
--   cluster/recovery.ts (recoverInstance)
-- SQLite
SELECT a.fire_id, a.deadline
FROM (SELECT value ->> 'fire_id' AS fire_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = r.sched_name
  AND a.fire_id = r.fire_id
  AND true;

-- PostgreSQL
SELECT a.fire_id, a.deadline
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(fire_id text, sched_name text)) AS r
  CROSS JOIN qrtz_awaited_results AS a
WHERE a.sched_name = ANY(ARRAY[r.sched_name])
  AND a.fire_id = ANY(ARRAY[r.fire_id])
  AND r.sched_name = r.sched_name || '';

-- awaitedResults.inFlight
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM qrtz_awaited_results AS a
WHERE a.sched_name = :scheduler
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING'
  )
ORDER BY a.deadline, a.fire_id
LIMIT 500 OFFSET :skip;

-- PostgreSQL
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM qrtz_awaited_results AS a
WHERE a.sched_name = :scheduler
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING' OFFSET 0
  )
ORDER BY a.deadline, a.fire_id
LIMIT 500 OFFSET :skip;

-- awaitedResults.overdue
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM qrtz_awaited_results AS a
WHERE a.sched_name = :scheduler
  AND a.deadline BETWEEN 0 AND :now
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING'
  )
ORDER BY a.deadline, a.fire_id
LIMIT 500 OFFSET :skip;

-- PostgreSQL
SELECT a.reference, a.fire_id, a.job_name, a.job_group, a.deadline, a.details
FROM qrtz_awaited_results AS a
WHERE a.sched_name = :scheduler
  AND a.deadline BETWEEN 0 AND :now
  AND EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING' OFFSET 0
  )
ORDER BY a.deadline, a.fire_id
LIMIT 500 OFFSET :skip;

-- awaitedResults.nextDeadline
--   sql-awaited-results.ts (SqlAwaitedResults)
-- Every engine
SELECT MIN(a.deadline) AS deadline
FROM qrtz_awaited_results AS a
WHERE a.sched_name = :scheduler
  AND a.deadline > :now;

-- awaitedResults.deleteOrphans
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
DELETE FROM qrtz_awaited_results AS a
WHERE a.sched_name = :scheduler
  AND a.deadline BETWEEN 0 AND :now
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING'
  );

-- PostgreSQL
DELETE FROM qrtz_awaited_results AS a
WHERE a.sched_name = :scheduler
  AND a.deadline BETWEEN 0 AND :now
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = a.sched_name
      AND f.entry_id = a.fire_id
      AND f.state = 'EXECUTING' OFFSET 0
  );

-- awaitedResults.deleteOldLate
--   sql-awaited-results.ts (SqlAwaitedResults)
-- Every engine
DELETE FROM qrtz_awaited_results AS a
WHERE a.sched_name = :scheduler
  AND a.deadline < 0
  AND (
    a.deadline > :oldest
      OR a.deadline > (
        SELECT k.deadline
        FROM qrtz_awaited_results AS k
        WHERE k.sched_name = :scheduler
          AND k.deadline < 0
        ORDER BY k.deadline
        LIMIT 1 OFFSET 10000
      )
  );

-- awaitedResults.keepLate
--   programs/firing/completing.ts (completeJobs)
-- SQLite
UPDATE qrtz_awaited_results AS a
SET deadline = -a.deadline, details = NULL
FROM (SELECT value ->> 'fire_id' AS fire_id, value ->> 'sched_name' AS sched_name FROM json_each(:rows)) AS r
WHERE a.sched_name = r.sched_name
  AND a.fire_id = r.fire_id
  AND true
  AND a.deadline + 0 > 0;

-- PostgreSQL
UPDATE qrtz_awaited_results AS a
SET deadline = -a.deadline, details = NULL
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(fire_id text, sched_name text)) AS r
WHERE a.sched_name = ANY(ARRAY[r.sched_name])
  AND a.fire_id = ANY(ARRAY[r.fire_id])
  AND r.sched_name = r.sched_name || ''
  AND a.deadline + 0 > 0;

-- awaitedResults.takeLate
--   sql-awaited-results.ts (SqlAwaitedResults)
-- SQLite
DELETE FROM qrtz_awaited_results AS a
WHERE (reference, sched_name) IN (
  SELECT r.reference, r.sched_name
  FROM (
    SELECT value ->> 'reference' AS reference, value ->> 'sched_name' AS sched_name FROM json_each(:rows)
  ) AS r
  WHERE true
)
  AND a.deadline + 0 < 0
RETURNING reference, fire_id;

-- PostgreSQL
DELETE FROM qrtz_awaited_results AS a USING (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(reference text, sched_name text)
) AS r
WHERE a.sched_name = ANY(ARRAY[r.sched_name])
  AND a.reference = r.reference
  AND r.sched_name = r.sched_name || ''
  AND a.deadline + 0 < 0
RETURNING a.reference, a.fire_id;

-- awaitedResults.delete
--   programs/firing/completing.ts (completeJobs)
-- SQLite
DELETE FROM qrtz_awaited_results WHERE fire_id = :fire_id AND sched_name = :sched_name;

-- PostgreSQL
DELETE FROM qrtz_awaited_results AS t USING (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(fire_id text, sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.fire_id = ANY(ARRAY[r.fire_id])
  AND r.sched_name = r.sched_name || ''
  AND true;

-----------------------------------------------------------------------
-- groupLimits: how many jobs of a group may run, where that is limited
-----------------------------------------------------------------------

-- groupLimits.inFlight
--   programs/firing/group-rooms.ts (GroupRooms)
-- SQLite
SELECT f.job_group, count(*) AS in_flight
FROM qrtz_fired_triggers AS f
WHERE f.sched_name = :scheduler
  AND f.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:rows)) AS r)
GROUP BY f.job_group;

-- PostgreSQL
SELECT f.job_group, count(*) AS in_flight
FROM qrtz_fired_triggers AS f
WHERE f.sched_name = :scheduler
  AND f.job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(grp text)) AS r
  )
GROUP BY f.job_group;

-- groupLimits.lock
--   programs/firing/group-rooms.ts (GroupRooms)
-- SQLite
SELECT l.lock_name
FROM qrtz_locks AS l
WHERE l.sched_name = :scheduler
  AND l.lock_name = 'JOB_GROUP_LIMITS';

-- PostgreSQL
SELECT l.lock_name
FROM qrtz_locks AS l
WHERE l.sched_name = :scheduler
  AND l.lock_name = 'JOB_GROUP_LIMITS'
FOR NO KEY UPDATE OF l;

-- groupLimits.makeLock
--   programs/firing/group-rooms.ts (GroupRooms)
-- Every engine
INSERT INTO qrtz_locks (sched_name, lock_name) VALUES (:scheduler, 'JOB_GROUP_LIMITS') ON CONFLICT DO NOTHING;

-- groupLimits.earliest
--   session/sql-transactions.ts (SqlTransactions)
-- SQLite
SELECT t.next_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time > 0
  AND t.next_fire_time <= :untilMs
  AND (t.job_group || '') IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:rows)) AS r)
ORDER BY t.next_fire_time
LIMIT 1;

-- PostgreSQL
SELECT t.next_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time > 0
  AND t.next_fire_time <= :untilMs
  AND (t.job_group || '') IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(grp text)) AS r
  )
ORDER BY t.next_fire_time
LIMIT 1;

-----------------------------------------------------
-- pausedGroups: paused_trigger_grps, paused_job_grps
-----------------------------------------------------

-- pausedGroups.triggerGroups.load
--   programs/firing/splitting.ts (splitCircumstances)
--   programs/reading/pauses.ts (getPausedGroups)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/ending-pauses.ts (endPause)
--   programs/scheduling/pausing.ts (resumeJobs, resumeTriggers)
--   programs/scheduling/resetting.ts (resetTriggerFromErrorState)
--   programs/scheduling/scheduling.ts (scheduleMany)
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- Every engine
SELECT trigger_group AS grp
FROM qrtz_paused_trigger_grps
WHERE sched_name = :scheduler;

-- pausedGroups.triggerGroups.add
--   programs/scheduling/ending-pauses.ts (endPause)
--   programs/scheduling/pausing.ts (pauseAll, pauseTriggers, resumeTriggers)
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
INSERT INTO qrtz_paused_trigger_grps (sched_name, trigger_group)
SELECT :scheduler, r.grp
FROM (SELECT value ->> 'grp' AS grp FROM json_each(:rows)) AS r
WHERE true
ON CONFLICT DO NOTHING;

-- PostgreSQL
INSERT INTO qrtz_paused_trigger_grps (sched_name, trigger_group)
SELECT :scheduler, r.grp
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(grp text)) AS r
WHERE true
ON CONFLICT DO NOTHING;

-- pausedGroups.triggerGroups.remove
--   programs/scheduling/ending-pauses.ts (endPause)
--   programs/scheduling/pausing.ts (pauseAll, resumeJobs, resumeTriggers)
-- SQLite
DELETE FROM qrtz_paused_trigger_grps
WHERE sched_name = :scheduler
  AND trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:rows)) AS r);

-- PostgreSQL
DELETE FROM qrtz_paused_trigger_grps
WHERE sched_name = :scheduler
  AND trigger_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(grp text)) AS r
  );

-- pausedGroups.triggerGroups.clear
--   programs/scheduling/deleting.ts (clear)
--   programs/scheduling/pausing.ts (resumeAll)
-- Every engine
DELETE FROM qrtz_paused_trigger_grps WHERE sched_name = :scheduler;

-- pausedGroups.jobGroups.load
--   programs/firing/splitting.ts (splitCircumstances)
--   programs/reading/pauses.ts (getPausedGroups)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/scheduling/ending-pauses.ts (endPause)
--   programs/scheduling/pausing.ts (resumeJobs, resumeTriggers)
--   programs/scheduling/resetting.ts (resetTriggerFromErrorState)
--   programs/scheduling/scheduling.ts (scheduleMany)
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- Every engine
SELECT job_group AS grp
FROM qrtz_paused_job_grps
WHERE sched_name = :scheduler;

-- pausedGroups.jobGroups.add
--   programs/scheduling/pausing.ts (pauseJobs)
-- SQLite
INSERT INTO qrtz_paused_job_grps (sched_name, job_group)
SELECT :scheduler, r.grp
FROM (SELECT value ->> 'grp' AS grp FROM json_each(:rows)) AS r
WHERE true
ON CONFLICT DO NOTHING;

-- PostgreSQL
INSERT INTO qrtz_paused_job_grps (sched_name, job_group)
SELECT :scheduler, r.grp
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(grp text)) AS r
WHERE true
ON CONFLICT DO NOTHING;

-- pausedGroups.jobGroups.remove
--   programs/scheduling/ending-pauses.ts (endPause)
--   programs/scheduling/pausing.ts (resumeJobs, resumeTriggers)
-- SQLite
DELETE FROM qrtz_paused_job_grps
WHERE sched_name = :scheduler
  AND job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:rows)) AS r);

-- PostgreSQL
DELETE FROM qrtz_paused_job_grps
WHERE sched_name = :scheduler
  AND job_group IN (
    SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(grp text)) AS r
  );

-- pausedGroups.jobGroups.clear
--   programs/scheduling/deleting.ts (clear)
--   programs/scheduling/pausing.ts (resumeAll)
-- Every engine
DELETE FROM qrtz_paused_job_grps WHERE sched_name = :scheduler;

------------------------------------------
-- pauses: pauses: why something is paused
------------------------------------------

-- pauses.insertMissing
--   programs/scheduling/pausing.ts (pauseAll, pauseJob, pauseJobs, pauseTrigger, pauseTriggers)
-- SQLite
INSERT INTO qrtz_pauses (sched_name, pause_scope, pause_group, pause_name, reason, paused_by, since_time,
  until_time)
VALUES (:scheduler, :pause_scope, :pause_group, :pause_name, :reason, :paused_by, :since_time, :until_time)
ON CONFLICT DO NOTHING;

-- PostgreSQL
INSERT INTO qrtz_pauses (sched_name, pause_scope, pause_group, pause_name, reason, paused_by, since_time,
  until_time)
SELECT :scheduler, r.pause_scope, r.pause_group, r.pause_name, r.reason, r.paused_by, r.since_time,
  r.until_time
FROM (
  SELECT *
  FROM unnest(CAST(:pause_scope AS text[]), CAST(:pause_group AS text[]), CAST(:pause_name AS text[]),
    CAST(:reason AS text[]), CAST(:paused_by AS text[]), CAST(:since_time AS bigint[]),
    CAST(:until_time AS bigint[])) AS r (pause_scope, pause_group, pause_name, reason, paused_by, since_time,
    until_time)
) AS r
WHERE true
ON CONFLICT DO NOTHING;

-- pauses.upsert
--   programs/scheduling/pausing.ts (pauseAll, pauseJob, pauseJobs, pauseTrigger, pauseTriggers)
-- SQLite
INSERT INTO qrtz_pauses (sched_name, pause_scope, pause_group, pause_name, reason, paused_by, since_time,
  until_time)
VALUES (:scheduler, :pause_scope, :pause_group, :pause_name, :reason, :paused_by, :since_time, :until_time)
ON CONFLICT (sched_name, pause_scope, pause_group, pause_name) DO UPDATE SET reason = excluded.reason,
  paused_by = excluded.paused_by, since_time = excluded.since_time, until_time = excluded.until_time;

-- PostgreSQL
INSERT INTO qrtz_pauses (sched_name, pause_scope, pause_group, pause_name, reason, paused_by, since_time,
  until_time)
SELECT :scheduler, r.pause_scope, r.pause_group, r.pause_name, r.reason, r.paused_by, r.since_time,
  r.until_time
FROM (
  SELECT *
  FROM unnest(CAST(:pause_scope AS text[]), CAST(:pause_group AS text[]), CAST(:pause_name AS text[]),
    CAST(:reason AS text[]), CAST(:paused_by AS text[]), CAST(:since_time AS bigint[]),
    CAST(:until_time AS bigint[])) AS r (pause_scope, pause_group, pause_name, reason, paused_by, since_time,
    until_time)
) AS r
WHERE true
ON CONFLICT (sched_name, pause_scope, pause_group, pause_name) DO UPDATE SET reason = excluded.reason,
  paused_by = excluded.paused_by, since_time = excluded.since_time, until_time = excluded.until_time;

-- pauses.load
--   programs/reading/pauses.ts (getPausedGroups, withPausesOfJobs, withPausesOfTriggers)
--   programs/scheduling/ending-pauses.ts (endPause)
-- SQLite
SELECT p.pause_scope, p.pause_group, p.pause_name, p.reason, p.paused_by, p.since_time, p.until_time
FROM (
  SELECT value ->> 'pause_scope' AS pause_scope, value ->> 'pause_group' AS pause_group,
    value ->> 'pause_name' AS pause_name, value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_pauses AS p
WHERE p.sched_name = r.sched_name
  AND p.pause_scope = r.pause_scope
  AND p.pause_group = r.pause_group
  AND p.pause_name = r.pause_name
  AND true
  AND (
    (
      p.pause_scope = 'trigger'
        AND EXISTS (
          SELECT 1
          FROM qrtz_triggers AS t
          WHERE t.sched_name = p.sched_name
            AND t.trigger_group = p.pause_group
            AND t.trigger_name = p.pause_name
            AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
        )
    )
      OR (
        p.pause_scope = 'job'
          AND EXISTS (
            SELECT 1
            FROM qrtz_triggers AS t
            WHERE t.sched_name = p.sched_name
              AND t.job_group = p.pause_group
              AND t.job_name = p.pause_name
              AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
          )
      )
      OR (
        p.pause_scope = 'triggerGroup'
          AND EXISTS (
            SELECT 1
            FROM qrtz_paused_trigger_grps AS t
            WHERE t.sched_name = p.sched_name
              AND t.trigger_group = p.pause_group
          )
      )
      OR (
        p.pause_scope = 'jobGroup'
          AND EXISTS (
            SELECT 1
            FROM qrtz_paused_job_grps AS t
            WHERE t.sched_name = p.sched_name
              AND t.job_group = p.pause_group
          )
      )
      OR (
        p.pause_scope = 'all'
          AND EXISTS (
            SELECT 1
            FROM qrtz_paused_trigger_grps AS t
            WHERE t.sched_name = p.sched_name
              AND t.trigger_group = '_$_ALL_GROUPS_PAUSED_$_'
          )
      )
  );

-- PostgreSQL
SELECT p.pause_scope, p.pause_group, p.pause_name, p.reason, p.paused_by, p.since_time, p.until_time
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(pause_scope text, pause_group text, pause_name text,
    sched_name text)
) AS r
  CROSS JOIN qrtz_pauses AS p
WHERE p.sched_name = ANY(ARRAY[r.sched_name])
  AND p.pause_scope = r.pause_scope
  AND p.pause_group = r.pause_group
  AND p.pause_name = r.pause_name
  AND r.sched_name = r.sched_name || ''
  AND (p.pause_name, p.pause_group, p.pause_scope) >= (r.pause_name, r.pause_group, r.pause_scope)
  AND (
    (
      p.pause_scope = 'trigger'
        AND EXISTS (
          SELECT 1
          FROM qrtz_triggers AS t
          WHERE t.sched_name = p.sched_name
            AND t.trigger_group = p.pause_group
            AND t.trigger_name = p.pause_name
            AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
        )
    )
      OR (
        p.pause_scope = 'job'
          AND EXISTS (
            SELECT 1
            FROM qrtz_triggers AS t
            WHERE t.sched_name = p.sched_name
              AND t.job_group = p.pause_group
              AND t.job_name = p.pause_name
              AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
          )
      )
      OR (
        p.pause_scope = 'triggerGroup'
          AND EXISTS (
            SELECT 1
            FROM qrtz_paused_trigger_grps AS t
            WHERE t.sched_name = p.sched_name
              AND t.trigger_group = p.pause_group
          )
      )
      OR (
        p.pause_scope = 'jobGroup'
          AND EXISTS (
            SELECT 1
            FROM qrtz_paused_job_grps AS t
            WHERE t.sched_name = p.sched_name
              AND t.job_group = p.pause_group
          )
      )
      OR (
        p.pause_scope = 'all'
          AND EXISTS (
            SELECT 1
            FROM qrtz_paused_trigger_grps AS t
            WHERE t.sched_name = p.sched_name
              AND t.trigger_group = '_$_ALL_GROUPS_PAUSED_$_'
          )
      )
  );

-- pauses.forget
--   programs/scheduling/deleting.ts (deleteJobs, deleteRefs)
--   programs/scheduling/pausing.ts (resumeJob, resumeJobs, resumeTriggers)
--   programs/scheduling/planning.ts (putPlanned)
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
DELETE FROM qrtz_pauses
WHERE pause_scope = :pause_scope
  AND pause_group = :pause_group
  AND pause_name = :pause_name
  AND sched_name = :sched_name;

-- PostgreSQL
DELETE FROM qrtz_pauses AS t USING (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(pause_scope text, pause_group text, pause_name text,
    sched_name text)
) AS r
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.pause_scope = r.pause_scope
  AND t.pause_group = r.pause_group
  AND t.pause_name = r.pause_name
  AND r.sched_name = r.sched_name || ''
  AND (t.pause_name, t.pause_group, t.pause_scope) >= (r.pause_name, r.pause_group, r.pause_scope)
  AND true;

-- pauses.forgetStale
--   programs/scheduling/pausing.ts (pauseJob, pauseTrigger)
--   programs/steps/group-pauses.ts (forgetOverPauses)
-- SQLite
DELETE FROM qrtz_pauses AS p
WHERE (p.sched_name, p.pause_scope, p.pause_group, p.pause_name) IN (
  SELECT r.sched_name, r.pause_scope, r.pause_group, r.pause_name
  FROM (
    SELECT value ->> 'pause_scope' AS pause_scope, value ->> 'pause_group' AS pause_group,
      value ->> 'pause_name' AS pause_name, value ->> 'sched_name' AS sched_name
    FROM json_each(:rows)
  ) AS r
  WHERE true
)
  AND NOT (
    (
      (
        p.pause_scope = 'trigger'
          AND EXISTS (
            SELECT 1
            FROM qrtz_triggers AS t
            WHERE t.sched_name = p.sched_name
              AND t.trigger_group = p.pause_group
              AND t.trigger_name = p.pause_name
              AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
          )
      )
        OR (
          p.pause_scope = 'job'
            AND EXISTS (
              SELECT 1
              FROM qrtz_triggers AS t
              WHERE t.sched_name = p.sched_name
                AND t.job_group = p.pause_group
                AND t.job_name = p.pause_name
                AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
            )
        )
        OR (
          p.pause_scope = 'triggerGroup'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_trigger_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.trigger_group = p.pause_group
            )
        )
        OR (
          p.pause_scope = 'jobGroup'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_job_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.job_group = p.pause_group
            )
        )
        OR (
          p.pause_scope = 'all'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_trigger_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.trigger_group = '_$_ALL_GROUPS_PAUSED_$_'
            )
        )
    )
  );

-- PostgreSQL
DELETE FROM qrtz_pauses AS p
WHERE (p.sched_name, p.pause_scope, p.pause_group, p.pause_name) IN (
  SELECT r.sched_name, r.pause_scope, r.pause_group, r.pause_name
  FROM (
    SELECT *
    FROM json_to_recordset(CAST(:rows AS json)) AS r(pause_scope text, pause_group text, pause_name text,
      sched_name text)
  ) AS r
  WHERE r.sched_name = r.sched_name || ''
)
  AND NOT (
    (
      (
        p.pause_scope = 'trigger'
          AND EXISTS (
            SELECT 1
            FROM qrtz_triggers AS t
            WHERE t.sched_name = p.sched_name
              AND t.trigger_group = p.pause_group
              AND t.trigger_name = p.pause_name
              AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
          )
      )
        OR (
          p.pause_scope = 'job'
            AND EXISTS (
              SELECT 1
              FROM qrtz_triggers AS t
              WHERE t.sched_name = p.sched_name
                AND t.job_group = p.pause_group
                AND t.job_name = p.pause_name
                AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
            )
        )
        OR (
          p.pause_scope = 'triggerGroup'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_trigger_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.trigger_group = p.pause_group
            )
        )
        OR (
          p.pause_scope = 'jobGroup'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_job_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.job_group = p.pause_group
            )
        )
        OR (
          p.pause_scope = 'all'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_trigger_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.trigger_group = '_$_ALL_GROUPS_PAUSED_$_'
            )
        )
    )
  );

-- pauses.forgetStaleOfJob
--   programs/scheduling/pausing.ts (pauseJob)
-- Every engine
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'trigger'
  AND (pause_group, pause_name) IN (
    SELECT t.trigger_group, t.trigger_name
    FROM qrtz_triggers t
    WHERE t.sched_name = :scheduler
      AND t.job_name = :name
      AND t.job_group = :grp
      AND t.trigger_state NOT IN ('PAUSED', 'PAUSED_BLOCKED')
  );

-- pauses.forgetAllStale
--   pause-ender.ts (PauseEnder)
--   programs/scheduling/pausing.ts (pauseAll, pauseJobs, pauseTriggers)
-- Every engine
DELETE FROM qrtz_pauses AS p
WHERE p.sched_name = :scheduler
  AND NOT (
    (
      (
        p.pause_scope = 'trigger'
          AND EXISTS (
            SELECT 1
            FROM qrtz_triggers AS t
            WHERE t.sched_name = p.sched_name
              AND t.trigger_group = p.pause_group
              AND t.trigger_name = p.pause_name
              AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
          )
      )
        OR (
          p.pause_scope = 'job'
            AND EXISTS (
              SELECT 1
              FROM qrtz_triggers AS t
              WHERE t.sched_name = p.sched_name
                AND t.job_group = p.pause_group
                AND t.job_name = p.pause_name
                AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
            )
        )
        OR (
          p.pause_scope = 'triggerGroup'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_trigger_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.trigger_group = p.pause_group
            )
        )
        OR (
          p.pause_scope = 'jobGroup'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_job_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.job_group = p.pause_group
            )
        )
        OR (
          p.pause_scope = 'all'
            AND EXISTS (
              SELECT 1
              FROM qrtz_paused_trigger_grps AS t
              WHERE t.sched_name = p.sched_name
                AND t.trigger_group = '_$_ALL_GROUPS_PAUSED_$_'
            )
        )
    )
  );

-- pauses.forgetOfTriggers.all
--   programs/scheduling/pausing.ts (resumeAll, resumeJob, resumeJobs, resumeTrigger, resumeTriggers)
-- Every engine
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'trigger'
  AND (pause_group, pause_name) IN (
    SELECT t.trigger_group, t.trigger_name
    FROM qrtz_triggers t
    WHERE t.sched_name = :scheduler
      AND true
  );

-- pauses.forgetOfTriggers.one
--   programs/scheduling/pausing.ts (resumeAll, resumeJob, resumeJobs, resumeTrigger, resumeTriggers)
-- Every engine
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'trigger'
  AND (pause_group, pause_name) IN (
    SELECT t.trigger_group, t.trigger_name
    FROM qrtz_triggers t
    WHERE t.sched_name = :scheduler
      AND t.trigger_name = :name
      AND t.trigger_group = :grp
  );

-- pauses.forgetOfTriggers.job
--   programs/scheduling/pausing.ts (resumeAll, resumeJob, resumeJobs, resumeTrigger, resumeTriggers)
-- Every engine
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'trigger'
  AND (pause_group, pause_name) IN (
    SELECT t.trigger_group, t.trigger_name
    FROM qrtz_triggers t
    WHERE t.sched_name = :scheduler
      AND t.job_name = :name
      AND t.job_group = :grp
  );

-- pauses.forgetOfTriggers.triggerGroups
--   programs/scheduling/pausing.ts (resumeAll, resumeJob, resumeJobs, resumeTrigger, resumeTriggers)
-- SQLite
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'trigger'
  AND (pause_group, pause_name) IN (
    SELECT t.trigger_group, t.trigger_name
    FROM qrtz_triggers t
    WHERE t.sched_name = :scheduler
      AND t.trigger_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
      AND t.job_group NOT IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r)
  );

-- PostgreSQL
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'trigger'
  AND (pause_group, pause_name) IN (
    SELECT t.trigger_group, t.trigger_name
    FROM qrtz_triggers t
    WHERE t.sched_name = :scheduler
      AND t.trigger_group IN (
        SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
      )
      AND t.job_group NOT IN (
        SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
      )
  );

-- pauses.forgetOfTriggers.jobGroups
--   programs/scheduling/pausing.ts (resumeAll, resumeJob, resumeJobs, resumeTrigger, resumeTriggers)
-- SQLite
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'trigger'
  AND (pause_group, pause_name) IN (
    SELECT t.trigger_group, t.trigger_name
    FROM qrtz_triggers t
    WHERE t.sched_name = :scheduler
      AND t.job_group IN (SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:groups)) AS r)
      AND t.trigger_group NOT IN (
        SELECT r.grp FROM (SELECT value ->> 'grp' AS grp FROM json_each(:others)) AS r
      )
  );

-- PostgreSQL
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'trigger'
  AND (pause_group, pause_name) IN (
    SELECT t.trigger_group, t.trigger_name
    FROM qrtz_triggers t
    WHERE t.sched_name = :scheduler
      AND t.job_group IN (
        SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:groups AS json)) AS r(grp text)) AS r
      )
      AND t.trigger_group NOT IN (
        SELECT r.grp FROM (SELECT * FROM json_to_recordset(CAST(:others AS json)) AS r(grp text)) AS r
      )
  );

-- pauses.triggerGroups
--   programs/scheduling/ending-pauses.ts (endPause)
-- Every engine
SELECT pause_group
FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = 'triggerGroup';

-- pauses.timed
--   pause-ender.ts (PauseEnder)
-- Every engine
SELECT pause_scope, pause_group, pause_name, until_time
FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND until_time IS NOT NULL
ORDER BY until_time
LIMIT :limit;

-- pauses.end
--   programs/scheduling/ending-pauses.ts (endPause)
-- Every engine
DELETE FROM qrtz_pauses
WHERE sched_name = :scheduler
  AND pause_scope = :scope
  AND pause_group = :grp
  AND pause_name = :name
  AND until_time = :untilMs;

-- pauses.clear
--   programs/scheduling/deleting.ts (clear)
--   programs/scheduling/pausing.ts (resumeAll)
-- Every engine
DELETE FROM qrtz_pauses WHERE sched_name = :scheduler;

-----------------------
-- calendars: calendars
-----------------------

-- calendars.load
--   programs/reading/reading.ts (getCalendar)
--   programs/scheduling/calendar-changes.ts (addCalendar)
--   programs/steps/calendar-lookup.ts (calendarsOf)
-- SQLite
SELECT c.calendar_name, c.calendar
FROM (SELECT value ->> 'name' AS name FROM json_each(:rows)) AS r
  CROSS JOIN qrtz_calendars AS c
WHERE c.sched_name = :scheduler
  AND c.calendar_name = r.name;

-- PostgreSQL
SELECT c.calendar_name, c.calendar
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(name text)) AS r
  CROSS JOIN qrtz_calendars AS c
WHERE c.sched_name = :scheduler
  AND c.calendar_name = r.name;

-- calendars.exists
--   programs/scheduling/calendar-changes.ts (addCalendar, deleteCalendar)
-- Every engine
SELECT 1 AS found
FROM qrtz_calendars
WHERE sched_name = :scheduler
  AND calendar_name = :name;

-- calendars.put
--   programs/scheduling/calendar-changes.ts (addCalendar)
-- SQLite
INSERT INTO qrtz_calendars (sched_name, calendar_name, calendar)
VALUES (:scheduler, :name, CAST(:json AS BLOB))
ON CONFLICT (sched_name, calendar_name) DO UPDATE SET calendar = excluded.calendar;

-- PostgreSQL
INSERT INTO qrtz_calendars (sched_name, calendar_name, calendar)
VALUES (:scheduler, :name, convert_to(:json, 'UTF8'))
ON CONFLICT (sched_name, calendar_name) DO UPDATE SET calendar = excluded.calendar;

-- calendars.delete
--   programs/scheduling/calendar-changes.ts (deleteCalendar)
-- Every engine
DELETE FROM qrtz_calendars WHERE sched_name = :scheduler AND calendar_name = :name;

-- calendars.clear
--   programs/scheduling/deleting.ts (clear)
-- Every engine
DELETE FROM qrtz_calendars WHERE sched_name = :scheduler;

-- calendars.names
--   sql-job-store.ts (SqlJobStore)
-- SQLite
SELECT calendar_name
FROM qrtz_calendars
WHERE sched_name = :scheduler
ORDER BY calendar_name;

-- PostgreSQL
SELECT calendar_name
FROM qrtz_calendars
WHERE sched_name = :scheduler
ORDER BY calendar_name COLLATE "C";

----------------------------------
-- jobStatus: job_status, job_days
----------------------------------

-- jobStatus.known
--   sql-records.ts (SqlRecords)
-- SQLite
SELECT r.job_name, r.job_group
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
WHERE (
  EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = r.sched_name
      AND j.job_name = r.job_name
      AND j.job_group = r.job_group
      AND true
  )
    OR EXISTS (
      SELECT 1
      FROM qrtz_job_status AS s
      WHERE s.sched_name = r.sched_name
        AND s.job_name = r.job_name
        AND s.job_group = r.job_group
        AND true
    )
);

-- PostgreSQL
SELECT r.job_name, r.job_group
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
WHERE (
  EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[r.sched_name])
      AND j.job_name = r.job_name
      AND j.job_group = r.job_group
      AND r.sched_name = r.sched_name || ''
      AND (j.job_group, j.job_name) >= (r.job_group, r.job_name) OFFSET 0
  )
    OR EXISTS (
      SELECT 1
      FROM qrtz_job_status AS s
      WHERE s.sched_name = ANY(ARRAY[r.sched_name])
        AND s.job_name = r.job_name
        AND s.job_group = r.job_group
        AND r.sched_name = r.sched_name || ''
        AND (s.job_group, s.job_name) >= (r.job_group, r.job_name) OFFSET 0
    )
);

-- jobStatus.addStatus
--   sql-records.ts (SqlRecords)
-- SQLite
INSERT INTO qrtz_job_status AS t (job_name, job_group, sched_name, last_fire_id, last_fired_time,
  last_finished_time, last_outcome, last_success_time, last_failure_time, last_error, failures, changed_time)
SELECT r.job_name, r.job_group, r.sched_name, r.last_fire_id, r.last_fired_time, r.last_finished_time,
  r.last_outcome, r.last_success_time, r.last_failure_time, r.last_error, r.failures, r.changed_time
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name, value ->> 'last_fire_id' AS last_fire_id,
    value ->> 'last_fired_time' AS last_fired_time, value ->> 'last_finished_time' AS last_finished_time,
    value ->> 'last_outcome' AS last_outcome, value ->> 'last_success_time' AS last_success_time,
    value ->> 'last_failure_time' AS last_failure_time, value ->> 'last_error' AS last_error,
    value ->> 'failures' AS failures, value ->> 'changed_time' AS changed_time
  FROM json_each(:rows)
) AS r
WHERE (
  EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = r.sched_name
      AND j.job_name = r.job_name
      AND j.job_group = r.job_group
      AND true
  )
    OR EXISTS (
      SELECT 1
      FROM qrtz_job_status AS s
      WHERE s.sched_name = r.sched_name
        AND s.job_name = r.job_name
        AND s.job_group = r.job_group
        AND true
    )
)
ON CONFLICT (sched_name, job_group,
  job_name) DO UPDATE SET last_fire_id = CASE WHEN (excluded.last_fired_time >= COALESCE(t.last_fired_time,
  excluded.last_fired_time) OR (excluded.last_fired_time IS NOT NULL AND t.last_fired_time >
  excluded.changed_time + 60000)) THEN excluded.last_fire_id ELSE t.last_fire_id END,
  last_finished_time = CASE WHEN (excluded.last_fired_time >= COALESCE(t.last_fired_time,
  excluded.last_fired_time) OR (excluded.last_fired_time IS NOT NULL AND t.last_fired_time >
  excluded.changed_time + 60000)) THEN excluded.last_finished_time ELSE t.last_finished_time END,
  last_outcome = CASE WHEN (excluded.last_fired_time >= COALESCE(t.last_fired_time, excluded.last_fired_time)
  OR (excluded.last_fired_time IS NOT NULL AND t.last_fired_time > excluded.changed_time + 60000)) THEN
  excluded.last_outcome ELSE t.last_outcome END,
  last_fired_time = CASE WHEN (excluded.last_fired_time >= COALESCE(t.last_fired_time,
  excluded.last_fired_time) OR (excluded.last_fired_time IS NOT NULL AND t.last_fired_time >
  excluded.changed_time + 60000)) THEN excluded.last_fired_time ELSE t.last_fired_time END,
  last_error = CASE WHEN (
  excluded.last_failure_time >= COALESCE(t.last_failure_time, excluded.last_failure_time)
    OR (excluded.last_failure_time IS NOT NULL AND t.last_failure_time > excluded.changed_time + 60000)
) THEN excluded.last_error ELSE t.last_error END,
  last_success_time = CASE WHEN (excluded.last_success_time >= COALESCE(t.last_success_time,
  excluded.last_success_time) OR (
  excluded.last_success_time IS NOT NULL AND t.last_success_time > excluded.changed_time + 60000
)) THEN excluded.last_success_time WHEN t.last_success_time > excluded.changed_time + 60000 THEN
  COALESCE(excluded.last_failure_time, t.last_success_time) ELSE t.last_success_time END,
  last_failure_time = CASE WHEN (excluded.last_failure_time >= COALESCE(t.last_failure_time,
  excluded.last_failure_time) OR (excluded.last_failure_time IS NOT NULL AND t.last_failure_time >
  excluded.changed_time + 60000)) THEN excluded.last_failure_time ELSE t.last_failure_time END,
  failures = CASE WHEN (excluded.last_success_time >= COALESCE(t.last_success_time,
  excluded.last_success_time) OR (excluded.last_success_time IS NOT NULL AND t.last_success_time >
  excluded.changed_time + 60000)) THEN excluded.failures + CASE WHEN t.failures > 0 AND t.last_failure_time >
  excluded.last_success_time AND NOT t.last_failure_time > excluded.changed_time + 60000 THEN 1 ELSE 0 END
  ELSE t.failures + CASE WHEN t.last_success_time IS NULL OR excluded.last_failure_time > t.last_success_time
  OR t.last_success_time > excluded.changed_time + 60000 THEN excluded.failures ELSE 0 END END,
  changed_time = excluded.changed_time;

-- PostgreSQL
INSERT INTO qrtz_job_status AS t (job_name, job_group, sched_name, last_fire_id, last_fired_time,
  last_finished_time, last_outcome, last_success_time, last_failure_time, last_error, failures, changed_time)
SELECT r.job_name, r.job_group, r.sched_name, r.last_fire_id, r.last_fired_time, r.last_finished_time,
  r.last_outcome, r.last_success_time, r.last_failure_time, r.last_error, r.failures, r.changed_time
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text,
    last_fire_id text, last_fired_time bigint, last_finished_time bigint, last_outcome text,
    last_success_time bigint, last_failure_time bigint, last_error text, failures bigint, changed_time bigint)
) AS r
WHERE (
  EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[r.sched_name])
      AND j.job_name = r.job_name
      AND j.job_group = r.job_group
      AND r.sched_name = r.sched_name || ''
      AND (j.job_group, j.job_name) >= (r.job_group, r.job_name) OFFSET 0
  )
    OR EXISTS (
      SELECT 1
      FROM qrtz_job_status AS s
      WHERE s.sched_name = ANY(ARRAY[r.sched_name])
        AND s.job_name = r.job_name
        AND s.job_group = r.job_group
        AND r.sched_name = r.sched_name || ''
        AND (s.job_group, s.job_name) >= (r.job_group, r.job_name) OFFSET 0
    )
)
ON CONFLICT (sched_name, job_group,
  job_name) DO UPDATE SET last_fire_id = CASE WHEN (excluded.last_fired_time >= COALESCE(t.last_fired_time,
  excluded.last_fired_time) OR (excluded.last_fired_time IS NOT NULL AND t.last_fired_time >
  excluded.changed_time + 60000)) THEN excluded.last_fire_id ELSE t.last_fire_id END,
  last_finished_time = CASE WHEN (excluded.last_fired_time >= COALESCE(t.last_fired_time,
  excluded.last_fired_time) OR (excluded.last_fired_time IS NOT NULL AND t.last_fired_time >
  excluded.changed_time + 60000)) THEN excluded.last_finished_time ELSE t.last_finished_time END,
  last_outcome = CASE WHEN (excluded.last_fired_time >= COALESCE(t.last_fired_time, excluded.last_fired_time)
  OR (excluded.last_fired_time IS NOT NULL AND t.last_fired_time > excluded.changed_time + 60000)) THEN
  excluded.last_outcome ELSE t.last_outcome END,
  last_fired_time = CASE WHEN (excluded.last_fired_time >= COALESCE(t.last_fired_time,
  excluded.last_fired_time) OR (excluded.last_fired_time IS NOT NULL AND t.last_fired_time >
  excluded.changed_time + 60000)) THEN excluded.last_fired_time ELSE t.last_fired_time END,
  last_error = CASE WHEN (
  excluded.last_failure_time >= COALESCE(t.last_failure_time, excluded.last_failure_time)
    OR (excluded.last_failure_time IS NOT NULL AND t.last_failure_time > excluded.changed_time + 60000)
) THEN excluded.last_error ELSE t.last_error END,
  last_success_time = CASE WHEN (excluded.last_success_time >= COALESCE(t.last_success_time,
  excluded.last_success_time) OR (
  excluded.last_success_time IS NOT NULL AND t.last_success_time > excluded.changed_time + 60000
)) THEN excluded.last_success_time WHEN t.last_success_time > excluded.changed_time + 60000 THEN
  COALESCE(excluded.last_failure_time, t.last_success_time) ELSE t.last_success_time END,
  last_failure_time = CASE WHEN (excluded.last_failure_time >= COALESCE(t.last_failure_time,
  excluded.last_failure_time) OR (excluded.last_failure_time IS NOT NULL AND t.last_failure_time >
  excluded.changed_time + 60000)) THEN excluded.last_failure_time ELSE t.last_failure_time END,
  failures = CASE WHEN (excluded.last_success_time >= COALESCE(t.last_success_time,
  excluded.last_success_time) OR (excluded.last_success_time IS NOT NULL AND t.last_success_time >
  excluded.changed_time + 60000)) THEN excluded.failures + CASE WHEN t.failures > 0 AND t.last_failure_time >
  excluded.last_success_time AND NOT t.last_failure_time > excluded.changed_time + 60000 THEN 1 ELSE 0 END
  ELSE t.failures + CASE WHEN t.last_success_time IS NULL OR excluded.last_failure_time > t.last_success_time
  OR t.last_success_time > excluded.changed_time + 60000 THEN excluded.failures ELSE 0 END END,
  changed_time = excluded.changed_time;

-- jobStatus.addDays
--   sql-records.ts (SqlRecords)
-- SQLite
INSERT INTO qrtz_job_days AS t (job_name, job_group, sched_name, day_number, succeeded, failed, vetoed,
  interrupted, timed_out, lost, run_time)
SELECT r.job_name, r.job_group, r.sched_name, r.day_number, r.succeeded, r.failed, r.vetoed, r.interrupted,
  r.timed_out, r.lost, r.run_time
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name, value ->> 'day_number' AS day_number,
    value ->> 'succeeded' AS succeeded, value ->> 'failed' AS failed, value ->> 'vetoed' AS vetoed,
    value ->> 'interrupted' AS interrupted, value ->> 'timed_out' AS timed_out, value ->> 'lost' AS lost,
    value ->> 'run_time' AS run_time
  FROM json_each(:rows)
) AS r
WHERE EXISTS (
  SELECT 1
  FROM qrtz_job_status AS s
  WHERE s.sched_name = r.sched_name
    AND s.job_name = r.job_name
    AND s.job_group = r.job_group
    AND true
)
ON CONFLICT (sched_name, job_group, job_name,
  day_number) DO UPDATE SET succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed,
  vetoed = t.vetoed + excluded.vetoed, interrupted = t.interrupted + excluded.interrupted,
  timed_out = t.timed_out + excluded.timed_out, lost = t.lost + excluded.lost,
  run_time = t.run_time + excluded.run_time;

-- PostgreSQL
INSERT INTO qrtz_job_days AS t (job_name, job_group, sched_name, day_number, succeeded, failed, vetoed,
  interrupted, timed_out, lost, run_time)
SELECT r.job_name, r.job_group, r.sched_name, r.day_number, r.succeeded, r.failed, r.vetoed, r.interrupted,
  r.timed_out, r.lost, r.run_time
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text,
    day_number bigint, succeeded bigint, failed bigint, vetoed bigint, interrupted bigint, timed_out bigint,
    lost bigint, run_time bigint)
) AS r
WHERE EXISTS (
  SELECT 1
  FROM qrtz_job_status AS s
  WHERE s.sched_name = ANY(ARRAY[r.sched_name])
    AND s.job_name = r.job_name
    AND s.job_group = r.job_group
    AND r.sched_name = r.sched_name || ''
    AND (s.job_group, s.job_name) >= (r.job_group, r.job_name) OFFSET 0
)
ON CONFLICT (sched_name, job_group, job_name,
  day_number) DO UPDATE SET succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed,
  vetoed = t.vetoed + excluded.vetoed, interrupted = t.interrupted + excluded.interrupted,
  timed_out = t.timed_out + excluded.timed_out, lost = t.lost + excluded.lost,
  run_time = t.run_time + excluded.run_time;

-- jobStatus.pageOfGroup
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT s.job_name, s.job_group, s.last_fire_id, s.last_fired_time, s.last_finished_time, s.last_outcome,
  s.last_success_time, s.last_failure_time, s.last_error, s.failures, s.changed_time
FROM qrtz_job_status AS s
WHERE s.sched_name = :scheduler
  AND s.failures >= :failures
  AND s.job_group = :group
  AND s.job_name > :name
ORDER BY s.job_name
LIMIT :limit;

-- jobStatus.pageOfOthers
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT s.job_name, s.job_group, s.last_fire_id, s.last_fired_time, s.last_finished_time, s.last_outcome,
  s.last_success_time, s.last_failure_time, s.last_error, s.failures, s.changed_time
FROM qrtz_job_status AS s
WHERE s.sched_name = :scheduler
  AND s.failures >= :failures
  AND s.job_group <> :default
  AND (s.job_group, s.job_name) > (:group, :name)
ORDER BY s.job_group, s.job_name
LIMIT :limit;

-- jobStatus.ofJobs
--   sql-records.ts (SqlRecords)
-- SQLite
SELECT s.job_name, s.job_group, s.last_fire_id, s.last_fired_time, s.last_finished_time, s.last_outcome,
  s.last_success_time, s.last_failure_time, s.last_error, s.failures, s.changed_time
FROM qrtz_job_status AS s
  JOIN (
    SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
      value ->> 'sched_name' AS sched_name
    FROM json_each(:rows)
  ) AS r ON s.sched_name = r.sched_name
    AND s.job_name = r.job_name
    AND s.job_group = r.job_group
    AND true
WHERE s.failures >= :failures;

-- PostgreSQL
SELECT s.job_name, s.job_group, s.last_fire_id, s.last_fired_time, s.last_finished_time, s.last_outcome,
  s.last_success_time, s.last_failure_time, s.last_error, s.failures, s.changed_time
FROM qrtz_job_status AS s
  JOIN (
    SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
  ) AS r ON s.sched_name = ANY(ARRAY[r.sched_name])
    AND s.job_name = r.job_name
    AND s.job_group = r.job_group
    AND r.sched_name = r.sched_name || ''
    AND (s.job_group, s.job_name) >= (r.job_group, r.job_name)
WHERE s.failures >= :failures;

-- jobStatus.days
--   sql-records.ts (SqlRecords)
-- SQLite
SELECT d.job_name, d.job_group, d.day_number, d.succeeded, d.failed, d.vetoed, d.interrupted, d.timed_out,
  d.lost, d.run_time
FROM (
  SELECT value ->> 'job_name' AS job_name, value ->> 'job_group' AS job_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  JOIN qrtz_job_days AS d ON d.sched_name = r.sched_name
    AND d.job_name = r.job_name
    AND d.job_group = r.job_group
    AND true
    AND d.day_number > :after
ORDER BY d.day_number DESC;

-- PostgreSQL
SELECT d.job_name, d.job_group, d.day_number, d.succeeded, d.failed, d.vetoed, d.interrupted, d.timed_out,
  d.lost, d.run_time
FROM (
  SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(job_name text, job_group text, sched_name text)
) AS r
  JOIN qrtz_job_days AS d ON d.sched_name = ANY(ARRAY[r.sched_name])
    AND d.job_name = r.job_name
    AND d.job_group = r.job_group
    AND r.sched_name = r.sched_name || ''
    AND (d.job_group, d.job_name) >= (r.job_group, r.job_name)
    AND d.day_number > :after
ORDER BY d.day_number DESC;

-- jobStatus.deleteDays
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_job_days AS t
WHERE (t.sched_name, t.job_group, t.job_name, t.day_number) IN (
  SELECT d.sched_name, d.job_group, d.job_name, d.day_number
  FROM qrtz_job_days AS d
  WHERE d.sched_name = :scheduler
    AND d.day_number < :day
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_job_days AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT d.ctid
    FROM qrtz_job_days AS d
    WHERE d.sched_name = :scheduler
      AND d.day_number < :day
    LIMIT :limit
    FOR NO KEY UPDATE OF d SKIP LOCKED
  )
);

-- jobStatus.deleteGone
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_job_status AS t
WHERE (t.sched_name, t.job_group, t.job_name) IN (
  SELECT s.sched_name, s.job_group, s.job_name
  FROM qrtz_job_status AS s
  WHERE s.sched_name = :scheduler
    AND s.changed_time < :before
    AND NOT EXISTS (
      SELECT 1
      FROM qrtz_job_details AS j
      WHERE j.sched_name = s.sched_name
        AND j.job_name = s.job_name
        AND j.job_group = s.job_group
    )
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_job_status AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT s.ctid
    FROM qrtz_job_status AS s
    WHERE s.sched_name = :scheduler
      AND s.changed_time < :before
      AND NOT EXISTS (
        SELECT 1
        FROM qrtz_job_details AS j
        WHERE j.sched_name = ANY(ARRAY[s.sched_name])
          AND j.job_name = s.job_name
          AND j.job_group = s.job_group OFFSET 0
      )
    LIMIT :limit
    FOR NO KEY UPDATE OF s SKIP LOCKED
  )
);

------------------------------
-- executionLog: execution_log
------------------------------

-- executionLog.put
--   programs/steps/history.ts (recordLogOfFenced)
--   sql-records.ts (SqlRecords)
-- SQLite
INSERT INTO qrtz_execution_log (sched_name, fire_instance_id, first_line, last_line, logged_time, log_lines)
VALUES (:scheduler, :fire_instance_id, :first_line, :last_line, :logged_time, :log_lines)
ON CONFLICT (sched_name, fire_instance_id, first_line) DO UPDATE SET last_line = excluded.last_line,
  logged_time = excluded.logged_time, log_lines = excluded.log_lines;

-- PostgreSQL
INSERT INTO qrtz_execution_log (sched_name, fire_instance_id, first_line, last_line, logged_time, log_lines)
SELECT :scheduler, r.fire_instance_id, r.first_line, r.last_line, r.logged_time, r.log_lines
FROM (
  SELECT *
  FROM unnest(CAST(:fire_instance_id AS text[]), CAST(:first_line AS bigint[]), CAST(:last_line AS bigint[]),
    CAST(:logged_time AS bigint[]), CAST(:log_lines AS text[])) AS r (fire_instance_id, first_line, last_line,
    logged_time, log_lines)
) AS r
WHERE true
ON CONFLICT (sched_name, fire_instance_id, first_line) DO UPDATE SET last_line = excluded.last_line,
  logged_time = excluded.logged_time, log_lines = excluded.log_lines;

-- executionLog.find
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT l.log_lines
FROM qrtz_execution_log AS l
WHERE l.sched_name = :scheduler
  AND l.fire_instance_id = :id
  AND l.last_line > :after
ORDER BY l.first_line
LIMIT :limit;

-- executionLog.findLast
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT h.log_lines
FROM qrtz_execution_history AS h
WHERE h.sched_name = :scheduler
  AND h.fire_instance_id = :id
  AND h.log_lines IS NOT NULL;

-- executionLog.nth
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT o.logged_time AS row_time
FROM qrtz_execution_log AS o
WHERE o.sched_name = :scheduler
ORDER BY o.logged_time DESC
LIMIT 1 OFFSET :skipped;

-- executionLog.deleteBefore
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_execution_log AS t
WHERE (t.sched_name, t.fire_instance_id, t.first_line) IN (
  SELECT o.sched_name, o.fire_instance_id, o.first_line
  FROM qrtz_execution_log AS o
  WHERE o.sched_name = :scheduler
    AND o.logged_time < :before
  ORDER BY o.logged_time
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_execution_log AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT o.ctid
    FROM qrtz_execution_log AS o
    WHERE o.sched_name = :scheduler
      AND o.logged_time < :before
    ORDER BY o.logged_time
    LIMIT :limit
    FOR NO KEY UPDATE OF o SKIP LOCKED
  )
);

----------------------------------------
-- executionProgress: execution_progress
----------------------------------------

-- executionProgress.put
--   sql-records.ts (SqlRecords)
-- SQLite
INSERT INTO qrtz_execution_progress (sched_name, fire_instance_id, progress)
VALUES (:scheduler, :fire_instance_id, :progress)
ON CONFLICT (sched_name, fire_instance_id) DO UPDATE SET progress = excluded.progress;

-- PostgreSQL
INSERT INTO qrtz_execution_progress (sched_name, fire_instance_id, progress)
SELECT :scheduler, r.fire_instance_id, r.progress
FROM (
  SELECT *
  FROM unnest(CAST(:fire_instance_id AS text[]), CAST(:progress AS text[])) AS r (fire_instance_id, progress)
) AS r
WHERE true
ON CONFLICT (sched_name, fire_instance_id) DO UPDATE SET progress = excluded.progress;

-- executionProgress.delete
--   sql-records.ts (SqlRecords)
-- SQLite
DELETE FROM qrtz_execution_progress
WHERE sched_name = :scheduler
  AND fire_instance_id IN (SELECT value FROM json_each(:ids));

-- PostgreSQL
DELETE FROM qrtz_execution_progress
WHERE sched_name = :scheduler
  AND fire_instance_id = ANY(ARRAY(SELECT json_array_elements_text(CAST(:ids AS json))));

-- executionProgress.load
--   sql-cluster.ts (SqlCluster)
-- Every engine
SELECT p.fire_instance_id, p.progress
FROM qrtz_execution_progress AS p
WHERE p.sched_name = :scheduler;

-- executionProgress.deleteLeft
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_execution_progress AS t
WHERE (t.sched_name, t.fire_instance_id) IN (
  SELECT p.sched_name, p.fire_instance_id
  FROM qrtz_execution_progress AS p
  WHERE p.sched_name = :scheduler
    AND NOT EXISTS (
      SELECT 1
      FROM qrtz_fired_triggers AS f
      WHERE f.sched_name = p.sched_name
        AND f.entry_id = p.fire_instance_id
    )
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_execution_progress AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT p.ctid
    FROM qrtz_execution_progress AS p
    WHERE p.sched_name = :scheduler
      AND NOT EXISTS (
        SELECT 1
        FROM qrtz_fired_triggers AS f
        WHERE f.sched_name = p.sched_name
          AND f.entry_id = p.fire_instance_id OFFSET 0
      )
    LIMIT :limit
    FOR NO KEY UPDATE OF p SKIP LOCKED
  )
);

---------------------
-- misfires: misfires
---------------------

-- misfires.insert
--   sql-records.ts (SqlRecords)
-- SQLite
INSERT INTO qrtz_misfires (sched_name, noticed_time, misfire_id, trigger_name, trigger_group, job_name,
  job_group, cause, policy, from_time, to_time, fire_count, instance_name)
VALUES (:scheduler, :noticed_time, :misfire_id, :trigger_name, :trigger_group, :job_name, :job_group, :cause,
  :policy, :from_time, :to_time, :fire_count, :instance_name)
ON CONFLICT DO NOTHING;

-- PostgreSQL
INSERT INTO qrtz_misfires (sched_name, noticed_time, misfire_id, trigger_name, trigger_group, job_name,
  job_group, cause, policy, from_time, to_time, fire_count, instance_name)
SELECT :scheduler, r.noticed_time, r.misfire_id, r.trigger_name, r.trigger_group, r.job_name, r.job_group,
  r.cause, r.policy, r.from_time, r.to_time, r.fire_count, r.instance_name
FROM (
  SELECT *
  FROM unnest(CAST(:noticed_time AS bigint[]), CAST(:misfire_id AS text[]), CAST(:trigger_name AS text[]),
    CAST(:trigger_group AS text[]), CAST(:job_name AS text[]), CAST(:job_group AS text[]),
    CAST(:cause AS text[]), CAST(:policy AS text[]), CAST(:from_time AS bigint[]), CAST(:to_time AS bigint[]),
    CAST(:fire_count AS bigint[]), CAST(:instance_name AS text[])) AS r (noticed_time, misfire_id,
    trigger_name, trigger_group, job_name, job_group, cause, policy, from_time, to_time, fire_count,
    instance_name)
) AS r
WHERE true
ON CONFLICT DO NOTHING;

-- misfires.count
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT m.cause, COUNT(*) AS row_count, SUM(CAST(COALESCE(m.fire_count, 1) AS DOUBLE PRECISION)) AS fires
FROM (
  SELECT c.cause, c.fire_count
  FROM qrtz_misfires AS c
  WHERE c.sched_name = :scheduler
    AND c.noticed_time >= :fromMs
    AND c.noticed_time < :toMs
  ORDER BY c.noticed_time DESC, c.misfire_id DESC
  LIMIT :limit
) AS m
GROUP BY m.cause;

-- misfires.nth
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT m.noticed_time, m.misfire_id
FROM qrtz_misfires AS m
WHERE m.sched_name = :scheduler
  AND m.noticed_time BETWEEN -8640000000000000 AND 8640000000000000
ORDER BY m.noticed_time DESC, m.misfire_id DESC
LIMIT 1 OFFSET :skipped;

-- misfires.deleteUpTo
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_misfires AS t
WHERE (t.sched_name, t.noticed_time, t.misfire_id) IN (
  SELECT m.sched_name, m.noticed_time, m.misfire_id
  FROM qrtz_misfires AS m
  WHERE m.sched_name = :scheduler
    AND (m.noticed_time, m.misfire_id) <= (:time, :id)
  ORDER BY m.noticed_time, m.misfire_id
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_misfires AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT m.ctid
    FROM qrtz_misfires AS m
    WHERE m.sched_name = :scheduler
      AND (m.noticed_time, m.misfire_id) <= (:time, :id)
    ORDER BY m.noticed_time, m.misfire_id
    LIMIT :limit
    FOR NO KEY UPDATE OF m SKIP LOCKED
  )
);

-- misfires.find: with every condition that a query may have
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT m.noticed_time, m.misfire_id, m.trigger_name, m.trigger_group, m.job_name, m.job_group, m.cause,
  m.policy, m.from_time, m.to_time, m.fire_count, m.instance_name
FROM (
  SELECT *
  FROM qrtz_misfires AS m
  WHERE m.sched_name = :scheduler
    AND m.noticed_time BETWEEN -8640000000000000 AND 8640000000000000
    AND m.noticed_time >= :fromMs
    AND m.noticed_time < :toMs
    AND (m.noticed_time, m.misfire_id) < (:afterMs, :afterId)
  ORDER BY m.noticed_time DESC, m.misfire_id DESC
  LIMIT :scanned
) AS m
WHERE m.sched_name = :scheduler
  AND m.trigger_name = :trigger
  AND m.trigger_group = :triggerGroup
  AND m.job_name = :job
  AND m.job_group = :jobGroup
  AND m.job_group = :group
  AND m.cause IN (:cause0)
ORDER BY m.noticed_time DESC, m.misfire_id DESC
LIMIT :limit;

-- misfires.place: the last row that such a page looks at, when it holds less than was asked for
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT m.noticed_time, m.misfire_id
FROM qrtz_misfires AS m
WHERE m.sched_name = :scheduler
  AND m.noticed_time BETWEEN -8640000000000000 AND 8640000000000000
  AND m.noticed_time >= :fromMs
  AND m.noticed_time < :toMs
  AND (m.noticed_time, m.misfire_id) < (:afterMs, :afterId)
ORDER BY m.noticed_time DESC, m.misfire_id DESC
LIMIT 1 OFFSET :skipped;

-----------------------------
-- audit: audit: who did what
-----------------------------

-- audit.put
--   sql-records.ts (SqlRecords)
-- SQLite
INSERT INTO qrtz_audit (sched_name, audit_time, audit_id, asked_by, address, node_name, operation,
  target_group, target_name, outcome, times, error_text, request, state_before, state_after)
VALUES (:scheduler, :audit_time, :audit_id, :asked_by, :address, :node_name, :operation, :target_group,
  :target_name, :outcome, :times, :error_text, :request, :state_before, :state_after)
ON CONFLICT (sched_name, audit_time, audit_id) DO UPDATE SET asked_by = excluded.asked_by,
  address = excluded.address, node_name = excluded.node_name, operation = excluded.operation,
  target_group = excluded.target_group, target_name = excluded.target_name, outcome = excluded.outcome,
  times = excluded.times, error_text = excluded.error_text, request = excluded.request,
  state_before = excluded.state_before, state_after = excluded.state_after;

-- PostgreSQL
INSERT INTO qrtz_audit (sched_name, audit_time, audit_id, asked_by, address, node_name, operation,
  target_group, target_name, outcome, times, error_text, request, state_before, state_after)
SELECT :scheduler, r.audit_time, r.audit_id, r.asked_by, r.address, r.node_name, r.operation, r.target_group,
  r.target_name, r.outcome, r.times, r.error_text, r.request, r.state_before, r.state_after
FROM (
  SELECT *
  FROM unnest(CAST(:audit_time AS bigint[]), CAST(:audit_id AS text[]), CAST(:asked_by AS text[]),
    CAST(:address AS text[]), CAST(:node_name AS text[]), CAST(:operation AS text[]),
    CAST(:target_group AS text[]), CAST(:target_name AS text[]), CAST(:outcome AS text[]),
    CAST(:times AS bigint[]), CAST(:error_text AS text[]), CAST(:request AS text[]),
    CAST(:state_before AS text[]), CAST(:state_after AS text[])) AS r (audit_time, audit_id, asked_by,
    address, node_name, operation, target_group, target_name, outcome, times, error_text, request,
    state_before, state_after)
) AS r
WHERE true
ON CONFLICT (sched_name, audit_time, audit_id) DO UPDATE SET asked_by = excluded.asked_by,
  address = excluded.address, node_name = excluded.node_name, operation = excluded.operation,
  target_group = excluded.target_group, target_name = excluded.target_name, outcome = excluded.outcome,
  times = excluded.times, error_text = excluded.error_text, request = excluded.request,
  state_before = excluded.state_before, state_after = excluded.state_after;

-- audit.nth
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT o.audit_time AS row_time
FROM qrtz_audit AS o
WHERE o.sched_name = :scheduler
ORDER BY o.audit_time DESC
LIMIT 1 OFFSET :skipped;

-- audit.deleteBefore
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_audit AS t
WHERE (t.sched_name, t.audit_time, t.audit_id) IN (
  SELECT o.sched_name, o.audit_time, o.audit_id
  FROM qrtz_audit AS o
  WHERE o.sched_name = :scheduler
    AND o.audit_time < :before
  ORDER BY o.audit_time
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_audit AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT o.ctid
    FROM qrtz_audit AS o
    WHERE o.sched_name = :scheduler
      AND o.audit_time < :before
    ORDER BY o.audit_time
    LIMIT :limit
    FOR NO KEY UPDATE OF o SKIP LOCKED
  )
);

-- audit.find: with every condition that a query may have
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT a.audit_time, a.audit_id, a.asked_by, a.address, a.node_name, a.operation, a.target_group,
  a.target_name, a.outcome, a.times, a.error_text, a.request, a.state_before, a.state_after
FROM (
  SELECT *
  FROM qrtz_audit AS a
  WHERE a.sched_name = :scheduler
    AND a.audit_time >= :fromMs
    AND a.audit_time < :toMs
    AND (a.audit_time, a.audit_id) < (:afterMs, :afterId)
  ORDER BY a.audit_time DESC, a.audit_id DESC
  LIMIT :scanned
) AS a
WHERE a.sched_name = :scheduler
  AND a.asked_by = :by
  AND a.operation = :operation
  AND a.target_group = :group
  AND a.target_name = :name
  AND a.outcome = :outcome
  AND a.node_name = :node
ORDER BY a.audit_time DESC, a.audit_id DESC
LIMIT :limit;

-- audit.find: with every condition that the key serves
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT a.audit_time, a.audit_id, a.asked_by, a.address, a.node_name, a.operation, a.target_group,
  a.target_name, a.outcome, a.times, a.error_text, a.request, a.state_before, a.state_after
FROM qrtz_audit AS a
WHERE a.sched_name = :scheduler
  AND a.audit_time >= :fromMs
  AND a.audit_time < :toMs
  AND (a.audit_time, a.audit_id) < (:afterMs, :afterId)
ORDER BY a.audit_time DESC, a.audit_id DESC
LIMIT :limit;

-- audit.place: the last row that such a page looks at, when it holds less than was asked for
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT a.audit_time, a.audit_id
FROM qrtz_audit AS a
WHERE a.sched_name = :scheduler
  AND a.audit_time >= :fromMs
  AND a.audit_time < :toMs
  AND (a.audit_time, a.audit_id) < (:afterMs, :afterId)
ORDER BY a.audit_time DESC, a.audit_id DESC
LIMIT 1 OFFSET :skipped;

-----------------------------
-- history: execution_history
-----------------------------

-- history.insert
--   programs/steps/history.ts (recordEnded, recordLost)
--   programs/steps/split-firings.ts (writeSettled)
-- SQLite
INSERT INTO qrtz_execution_history (sched_name, fire_instance_id, trigger_name, trigger_group, job_name,
  job_group, job_type, instance_name, planned_time, fired_time, finished_time, attempt, outcome, error_text,
  recovering, acquired_time, began_time, is_manual, triggered_by, previous_id, firing_id, shard_item,
  progress, result, job_data, log_lines)
VALUES (:scheduler, :fire_instance_id, :trigger_name, :trigger_group, :job_name, :job_group, :job_type,
  :instance_name, :planned_time, :fired_time, :finished_time, :attempt, :outcome, :error_text, :recovering,
  :acquired_time, :began_time, :is_manual, :triggered_by, :previous_id, :firing_id, :shard_item, :progress,
  :result, :job_data, :log_lines)
ON CONFLICT DO NOTHING;

-- PostgreSQL
INSERT INTO qrtz_execution_history (sched_name, fire_instance_id, trigger_name, trigger_group, job_name,
  job_group, job_type, instance_name, planned_time, fired_time, finished_time, attempt, outcome, error_text,
  recovering, acquired_time, began_time, is_manual, triggered_by, previous_id, firing_id, shard_item,
  progress, result, job_data, log_lines)
SELECT :scheduler, r.fire_instance_id, r.trigger_name, r.trigger_group, r.job_name, r.job_group, r.job_type,
  r.instance_name, r.planned_time, r.fired_time, r.finished_time, r.attempt, r.outcome, r.error_text,
  r.recovering, r.acquired_time, r.began_time, r.is_manual, r.triggered_by, r.previous_id, r.firing_id,
  r.shard_item, r.progress, r.result, r.job_data, r.log_lines
FROM (
  SELECT *
  FROM unnest(CAST(:fire_instance_id AS text[]), CAST(:trigger_name AS text[]),
    CAST(:trigger_group AS text[]), CAST(:job_name AS text[]), CAST(:job_group AS text[]),
    CAST(:job_type AS text[]), CAST(:instance_name AS text[]), CAST(:planned_time AS bigint[]),
    CAST(:fired_time AS bigint[]), CAST(:finished_time AS bigint[]), CAST(:attempt AS bigint[]),
    CAST(:outcome AS text[]), CAST(:error_text AS text[]), CAST(:recovering AS boolean[]),
    CAST(:acquired_time AS bigint[]), CAST(:began_time AS bigint[]), CAST(:is_manual AS boolean[]),
    CAST(:triggered_by AS text[]), CAST(:previous_id AS text[]), CAST(:firing_id AS text[]),
    CAST(:shard_item AS bigint[]), CAST(:progress AS text[]), CAST(:result AS text[]),
    CAST(:job_data AS text[]), CAST(:log_lines AS text[])) AS r (fire_instance_id, trigger_name,
    trigger_group, job_name, job_group, job_type, instance_name, planned_time, fired_time, finished_time,
    attempt, outcome, error_text, recovering, acquired_time, began_time, is_manual, triggered_by, previous_id,
    firing_id, shard_item, progress, result, job_data, log_lines)
) AS r
WHERE true
ON CONFLICT DO NOTHING;

-- history.insertPlain
--   programs/steps/history.ts (recordEnded, recordLost)
--   programs/steps/split-firings.ts (writeSettled)
-- SQLite
INSERT INTO qrtz_execution_history (sched_name, fire_instance_id, trigger_name, trigger_group, job_name,
  job_group, job_type, instance_name, planned_time, fired_time, finished_time, acquired_time, began_time,
  log_lines, attempt, outcome, recovering)
VALUES (:scheduler, :fire_instance_id, :trigger_name, :trigger_group, :job_name, :job_group, :job_type,
  :instance_name, :planned_time, :fired_time, :finished_time, :acquired_time, :began_time, :log_lines, 1,
  'succeeded', false)
ON CONFLICT DO NOTHING;

-- PostgreSQL
INSERT INTO qrtz_execution_history (sched_name, fire_instance_id, trigger_name, trigger_group, job_name,
  job_group, job_type, instance_name, planned_time, fired_time, finished_time, acquired_time, began_time,
  log_lines, attempt, outcome, recovering)
SELECT :scheduler, r.fire_instance_id, r.trigger_name, r.trigger_group, r.job_name, r.job_group, r.job_type,
  r.instance_name, r.planned_time, r.fired_time, r.finished_time, r.acquired_time, r.began_time, r.log_lines,
  1, 'succeeded', false
FROM (
  SELECT *
  FROM unnest(CAST(:fire_instance_id AS text[]), CAST(:trigger_name AS text[]),
    CAST(:trigger_group AS text[]), CAST(:job_name AS text[]), CAST(:job_group AS text[]),
    CAST(:job_type AS text[]), CAST(:instance_name AS text[]), CAST(:planned_time AS bigint[]),
    CAST(:fired_time AS bigint[]), CAST(:finished_time AS bigint[]), CAST(:acquired_time AS bigint[]),
    CAST(:began_time AS bigint[]), CAST(:log_lines AS text[])) AS r (fire_instance_id, trigger_name,
    trigger_group, job_name, job_group, job_type, instance_name, planned_time, fired_time, finished_time,
    acquired_time, began_time, log_lines)
) AS r
WHERE true
ON CONFLICT DO NOTHING;

-- history.dropLogLines
--   record-pruner.ts (RecordPruner)
-- SQLite
UPDATE qrtz_execution_history AS t
SET log_lines = NULL
WHERE (t.sched_name, t.fire_instance_id) IN (
  SELECT h.sched_name, h.fire_instance_id
  FROM qrtz_execution_history AS h
  WHERE h.sched_name = :scheduler
    AND h.log_lines IS NOT NULL
    AND h.finished_time < :before
  ORDER BY h.finished_time
  LIMIT :limit
);

-- PostgreSQL
UPDATE qrtz_execution_history AS t
SET log_lines = NULL
WHERE t.ctid = ANY(
  ARRAY(
    SELECT h.ctid
    FROM qrtz_execution_history AS h
    WHERE h.sched_name = :scheduler
      AND h.log_lines IS NOT NULL
      AND h.finished_time < :before
    ORDER BY h.finished_time
    LIMIT :limit
    FOR NO KEY UPDATE OF h SKIP LOCKED
  )
);

-- history.nth
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT h.fired_time, h.fire_instance_id
FROM qrtz_execution_history AS h
WHERE h.sched_name = :scheduler
  AND h.fired_time BETWEEN -8640000000000000 AND 8640000000000000
ORDER BY h.fired_time DESC, h.fire_instance_id DESC
LIMIT 1 OFFSET :skipped;

-- history.nthBefore
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT h.fired_time, h.fire_instance_id
FROM qrtz_execution_history AS h
WHERE h.sched_name = :scheduler
  AND h.fired_time BETWEEN -8640000000000000 AND 8640000000000000
  AND h.fired_time < :before
ORDER BY h.fired_time, h.fire_instance_id
LIMIT 1 OFFSET :skipped;

-- history.nthAfter
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT h.fired_time, h.fire_instance_id
FROM qrtz_execution_history AS h
WHERE h.sched_name = :scheduler
  AND (h.fired_time, h.fire_instance_id) > (:afterMs, :afterId)
  AND h.fired_time < :before
ORDER BY h.fired_time, h.fire_instance_id
LIMIT 1 OFFSET :skipped;

-- history.deleteUpTo
--   record-pruner.ts (RecordPruner)
-- Every engine
DELETE FROM qrtz_execution_history
WHERE sched_name = :scheduler
  AND (fired_time, fire_instance_id) <= (:time, :id);

-- history.deleteFree
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_execution_history AS t
WHERE (t.sched_name, t.fire_instance_id) IN (
  SELECT h.sched_name, h.fire_instance_id
  FROM qrtz_execution_history AS h
  WHERE h.sched_name = :scheduler
    AND (h.fired_time, h.fire_instance_id) <= (:time, :id)
  ORDER BY h.fired_time, h.fire_instance_id
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_execution_history AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT h.ctid
    FROM qrtz_execution_history AS h
    WHERE h.sched_name = :scheduler
      AND (h.fired_time, h.fire_instance_id) <= (:time, :id)
    ORDER BY h.fired_time, h.fire_instance_id
    LIMIT :limit
    FOR NO KEY UPDATE OF h SKIP LOCKED
  )
);

-- history.deleteOutcome
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_execution_history AS t
WHERE (t.sched_name, t.fire_instance_id) IN (
  SELECT h.sched_name, h.fire_instance_id
  FROM qrtz_execution_history AS h
  WHERE h.sched_name = :scheduler
    AND (h.fired_time, h.fire_instance_id) > (:afterMs, :afterId)
    AND (h.fired_time, h.fire_instance_id) <= (:time, :id)
    AND h.outcome = :outcome
  ORDER BY h.fired_time, h.fire_instance_id
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_execution_history AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT h.ctid
    FROM qrtz_execution_history AS h
    WHERE h.sched_name = :scheduler
      AND (h.fired_time, h.fire_instance_id) > (:afterMs, :afterId)
      AND (h.fired_time, h.fire_instance_id) <= (:time, :id)
      AND h.outcome = :outcome
    ORDER BY h.fired_time, h.fire_instance_id
    LIMIT :limit
    FOR NO KEY UPDATE OF h SKIP LOCKED
  )
);

-- history.get
--   sql-records.ts (SqlRecords)
-- Every engine
SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
  h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
  h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
  h.shard_item, h.progress, h.result, h.job_data
FROM qrtz_execution_history AS h
WHERE h.sched_name = :scheduler
  AND h.fire_instance_id = :id
LIMIT 1;

-- history.attempts
--   sql-records.ts (SqlRecords)
-- SQLite
SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
  h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
  h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
  h.shard_item
FROM (
  SELECT *
  FROM (
    SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
      h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
      h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
      h.shard_item
    FROM qrtz_execution_history AS h
    WHERE h.sched_name || '' = :scheduler
      AND h.trigger_name = :trigger
      AND h.trigger_group = :triggerGroup
      AND h.fired_time >= :planned
    ORDER BY h.fired_time, h.fire_instance_id
    LIMIT :scanned
  ) AS a
  UNION ALL
  SELECT *
  FROM (
    SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
      h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
      h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
      h.shard_item
    FROM qrtz_execution_history AS h
    WHERE h.sched_name || '' = :scheduler
      AND h.trigger_name = :trigger
      AND h.trigger_group = :triggerGroup
      AND h.fired_time >= :earliest
      AND h.fired_time < :planned
    ORDER BY h.fired_time DESC, h.fire_instance_id DESC
    LIMIT :scanned
  ) AS b
) AS h
WHERE h.planned_time = :planned
ORDER BY h.attempt
LIMIT :limit;

-- PostgreSQL
SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
  h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
  h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
  h.shard_item
FROM (
  SELECT *
  FROM (
    SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
      h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
      h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
      h.shard_item
    FROM qrtz_execution_history AS h
    WHERE h.sched_name = :scheduler
      AND h.trigger_name = :trigger
      AND h.trigger_group = :triggerGroup
      AND h.fired_time >= :planned
    ORDER BY h.fired_time, h.fire_instance_id
    LIMIT :scanned
  ) AS a
  UNION ALL
  SELECT *
  FROM (
    SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
      h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
      h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
      h.shard_item
    FROM qrtz_execution_history AS h
    WHERE h.sched_name = :scheduler
      AND h.trigger_name = :trigger
      AND h.trigger_group = :triggerGroup
      AND h.fired_time >= :earliest
      AND h.fired_time < :planned
    ORDER BY h.fired_time DESC, h.fire_instance_id DESC
    LIMIT :scanned
  ) AS b
) AS h
WHERE h.planned_time = :planned
ORDER BY h.attempt
LIMIT :limit;

-- history.find: with every condition that a query may have
--   programs/reading/reading.ts (queryExecutions)
-- SQLite
SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
  h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
  h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
  h.shard_item
FROM (
  SELECT *
  FROM qrtz_execution_history AS h
  WHERE h.sched_name || '' = :scheduler
    AND h.fired_time >= :fromMs
    AND (h.fired_time, h.fire_instance_id) < (:afterMs, :afterId)
    AND h.job_name = :job
    AND h.job_group = :jobGroup
    AND h.trigger_name = :trigger
    AND h.trigger_group = :triggerGroup
    AND h.outcome <> 'succeeded'
  ORDER BY h.fired_time DESC, h.fire_instance_id DESC
  LIMIT :scanned
) AS h
WHERE h.sched_name = :scheduler
  AND h.job_group = :group
  AND h.instance_name = :node
  AND h.outcome IN (:outcome0)
  AND h.fired_time - h.planned_time > :later
  AND h.outcome <> 'vetoed'
  AND h.finished_time - COALESCE(h.began_time, h.fired_time) > :took
  AND instr(h.error_text, :error) > 0
  AND COALESCE(h.is_manual, false) = :manual
  AND (
    instr(h.job_data, :data0) > 0
      OR instr(h.job_data, :data1) > 0
      OR instr(h.job_data, :data2) > 0
      OR instr(h.job_data, :data3) > 0
  )
ORDER BY h.fired_time DESC, h.fire_instance_id DESC
LIMIT :limit;

-- PostgreSQL
SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
  h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
  h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
  h.shard_item
FROM (
  SELECT *
  FROM qrtz_execution_history AS h
  WHERE h.sched_name = :scheduler
    AND h.fired_time >= :fromMs
    AND (h.fired_time, h.fire_instance_id) < (:afterMs, :afterId)
    AND h.job_name = :job
    AND h.job_group = :jobGroup
    AND h.trigger_name = :trigger
    AND h.trigger_group = :triggerGroup
    AND h.outcome <> 'succeeded'
  ORDER BY h.fired_time DESC, h.fire_instance_id DESC
  LIMIT :scanned
) AS h
WHERE h.sched_name = :scheduler
  AND h.job_group = :group
  AND h.instance_name = :node
  AND h.outcome IN (:outcome0)
  AND h.fired_time - h.planned_time > :later
  AND h.outcome <> 'vetoed'
  AND h.finished_time - COALESCE(h.began_time, h.fired_time) > :took
  AND strpos(h.error_text, CAST(:error AS text)) > 0
  AND COALESCE(h.is_manual, false) = :manual
  AND (
    strpos(h.job_data, CAST(:data0 AS text)) > 0
      OR strpos(h.job_data, CAST(:data1 AS text)) > 0
      OR strpos(h.job_data, CAST(:data2 AS text)) > 0
      OR strpos(h.job_data, CAST(:data3 AS text)) > 0
  )
ORDER BY h.fired_time DESC, h.fire_instance_id DESC
LIMIT :limit;

-- history.find: with every condition that an index serves
--   programs/reading/reading.ts (queryExecutions)
-- SQLite
SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
  h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
  h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
  h.shard_item
FROM qrtz_execution_history AS h
WHERE h.sched_name || '' = :scheduler
  AND h.fired_time >= :fromMs
  AND (h.fired_time, h.fire_instance_id) < (:afterMs, :afterId)
  AND h.job_name = :job
  AND h.job_group = :jobGroup
  AND h.trigger_name = :trigger
  AND h.trigger_group = :triggerGroup
ORDER BY h.fired_time DESC, h.fire_instance_id DESC
LIMIT :limit;

-- PostgreSQL
SELECT h.fire_instance_id, h.trigger_name, h.trigger_group, h.job_name, h.job_group, h.job_type,
  h.instance_name, h.planned_time, h.fired_time, h.finished_time, h.attempt, h.outcome, h.error_text,
  h.recovering, h.acquired_time, h.began_time, h.is_manual, h.triggered_by, h.previous_id, h.firing_id,
  h.shard_item
FROM qrtz_execution_history AS h
WHERE h.sched_name = :scheduler
  AND h.fired_time >= :fromMs
  AND (h.fired_time, h.fire_instance_id) < (:afterMs, :afterId)
  AND h.job_name = :job
  AND h.job_group = :jobGroup
  AND h.trigger_name = :trigger
  AND h.trigger_group = :triggerGroup
ORDER BY h.fired_time DESC, h.fire_instance_id DESC
LIMIT :limit;

-- history.place: the last row that such a page looks at, when it holds less than was asked for
--   programs/reading/reading.ts (queryExecutions)
-- SQLite
SELECT h.fired_time, h.fire_instance_id
FROM qrtz_execution_history AS h
WHERE h.sched_name || '' = :scheduler
  AND h.fired_time >= :fromMs
  AND (h.fired_time, h.fire_instance_id) < (:afterMs, :afterId)
  AND h.job_name = :job
  AND h.job_group = :jobGroup
  AND h.trigger_name = :trigger
  AND h.trigger_group = :triggerGroup
  AND h.outcome <> 'succeeded'
ORDER BY h.fired_time DESC, h.fire_instance_id DESC
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT h.fired_time, h.fire_instance_id
FROM qrtz_execution_history AS h
WHERE h.sched_name = :scheduler
  AND h.fired_time >= :fromMs
  AND (h.fired_time, h.fire_instance_id) < (:afterMs, :afterId)
  AND h.job_name = :job
  AND h.job_group = :jobGroup
  AND h.trigger_name = :trigger
  AND h.trigger_group = :triggerGroup
  AND h.outcome <> 'succeeded'
ORDER BY h.fired_time DESC, h.fire_instance_id DESC
LIMIT 1 OFFSET :skipped;

-----------------------------------------------------------
-- ahead: execution_history: rows of a clock that was ahead
-----------------------------------------------------------

-- ahead.nthAhead
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT o.fired_time AS row_time
FROM qrtz_execution_history AS o
WHERE o.sched_name = :scheduler
  AND o.fired_time > :after
  AND o.fired_time <= 8640000000000000
ORDER BY o.fired_time DESC
LIMIT 1 OFFSET :skipped;

-- ahead.countUpTo
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT COUNT(*) AS row_count
FROM (
  SELECT 1
  FROM qrtz_execution_history AS o
  WHERE o.sched_name = :scheduler
    AND o.fired_time <= :time
  LIMIT :limit
) AS c;

-- ahead.deleteAhead
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_execution_history AS t
WHERE (t.sched_name, t.fire_instance_id) IN (
  SELECT o.sched_name, o.fire_instance_id
  FROM qrtz_execution_history AS o
  WHERE o.sched_name = :scheduler
    AND o.fired_time > :after
    AND o.fired_time <= :time
  ORDER BY o.fired_time
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_execution_history AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT o.ctid
    FROM qrtz_execution_history AS o
    WHERE o.sched_name = :scheduler
      AND o.fired_time > :after
      AND o.fired_time <= :time
    ORDER BY o.fired_time
    LIMIT :limit
    FOR NO KEY UPDATE OF o SKIP LOCKED
  )
);

-------------------------------------------------------
-- ahead: execution_log: rows of a clock that was ahead
-------------------------------------------------------

-- ahead.nthAhead
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT o.logged_time AS row_time
FROM qrtz_execution_log AS o
WHERE o.sched_name = :scheduler
  AND o.logged_time > :after
  AND o.logged_time <= 8640000000000000
ORDER BY o.logged_time DESC
LIMIT 1 OFFSET :skipped;

-- ahead.countUpTo
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT COUNT(*) AS row_count
FROM (
  SELECT 1
  FROM qrtz_execution_log AS o
  WHERE o.sched_name = :scheduler
    AND o.logged_time <= :time
  LIMIT :limit
) AS c;

-- ahead.deleteAhead
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_execution_log AS t
WHERE (t.sched_name, t.fire_instance_id, t.first_line) IN (
  SELECT o.sched_name, o.fire_instance_id, o.first_line
  FROM qrtz_execution_log AS o
  WHERE o.sched_name = :scheduler
    AND o.logged_time > :after
    AND o.logged_time <= :time
  ORDER BY o.logged_time
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_execution_log AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT o.ctid
    FROM qrtz_execution_log AS o
    WHERE o.sched_name = :scheduler
      AND o.logged_time > :after
      AND o.logged_time <= :time
    ORDER BY o.logged_time
    LIMIT :limit
    FOR NO KEY UPDATE OF o SKIP LOCKED
  )
);

--------------------------------------------------
-- ahead: misfires: rows of a clock that was ahead
--------------------------------------------------

-- ahead.nthAhead
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT o.noticed_time AS row_time
FROM qrtz_misfires AS o
WHERE o.sched_name = :scheduler
  AND o.noticed_time > :after
  AND o.noticed_time <= 8640000000000000
ORDER BY o.noticed_time DESC
LIMIT 1 OFFSET :skipped;

-- ahead.countUpTo
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT COUNT(*) AS row_count
FROM (
  SELECT 1
  FROM qrtz_misfires AS o
  WHERE o.sched_name = :scheduler
    AND o.noticed_time <= :time
  LIMIT :limit
) AS c;

-- ahead.deleteAhead
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_misfires AS t
WHERE (t.sched_name, t.noticed_time, t.misfire_id) IN (
  SELECT o.sched_name, o.noticed_time, o.misfire_id
  FROM qrtz_misfires AS o
  WHERE o.sched_name = :scheduler
    AND o.noticed_time > :after
    AND o.noticed_time <= :time
  ORDER BY o.noticed_time
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_misfires AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT o.ctid
    FROM qrtz_misfires AS o
    WHERE o.sched_name = :scheduler
      AND o.noticed_time > :after
      AND o.noticed_time <= :time
    ORDER BY o.noticed_time
    LIMIT :limit
    FOR NO KEY UPDATE OF o SKIP LOCKED
  )
);

-----------------------------------------------
-- ahead: audit: rows of a clock that was ahead
-----------------------------------------------

-- ahead.nthAhead
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT o.audit_time AS row_time
FROM qrtz_audit AS o
WHERE o.sched_name = :scheduler
  AND o.audit_time > :after
  AND o.audit_time <= 8640000000000000
ORDER BY o.audit_time DESC
LIMIT 1 OFFSET :skipped;

-- ahead.countUpTo
--   record-pruner.ts (RecordPruner)
-- Every engine
SELECT COUNT(*) AS row_count
FROM (
  SELECT 1
  FROM qrtz_audit AS o
  WHERE o.sched_name = :scheduler
    AND o.audit_time <= :time
  LIMIT :limit
) AS c;

-- ahead.deleteAhead
--   record-pruner.ts (RecordPruner)
-- SQLite
DELETE FROM qrtz_audit AS t
WHERE (t.sched_name, t.audit_time, t.audit_id) IN (
  SELECT o.sched_name, o.audit_time, o.audit_id
  FROM qrtz_audit AS o
  WHERE o.sched_name = :scheduler
    AND o.audit_time > :after
    AND o.audit_time <= :time
  ORDER BY o.audit_time
  LIMIT :limit
);

-- PostgreSQL
DELETE FROM qrtz_audit AS t
WHERE t.ctid = ANY(
  ARRAY(
    SELECT o.ctid
    FROM qrtz_audit AS o
    WHERE o.sched_name = :scheduler
      AND o.audit_time > :after
      AND o.audit_time <= :time
    ORDER BY o.audit_time
    LIMIT :limit
    FOR NO KEY UPDATE OF o SKIP LOCKED
  )
);

--------------------------------------------
-- keyLists: which keys and groups there are
--------------------------------------------

-- keyLists.jobsOfTriggers
--   programs/firing/nameless-rows.ts (namelessOf)
--   programs/scheduling/definition-changes.ts (changeDefinitions)
--   programs/scheduling/deleting.ts (deleteTriggers)
--   programs/scheduling/scheduling.ts (rescheduleTrigger, scheduleMany)
--   programs/steps/new-triggers.ts (lockBehindJob)
--   programs/steps/passing-over.ts (tryLockTriggers)
--   programs/steps/split-firings.ts (endLostItems)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group
FROM (
  SELECT value ->> 'trigger_name' AS trigger_name, value ->> 'trigger_group' AS trigger_group,
    value ->> 'sched_name' AS sched_name
  FROM json_each(:rows)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = r.sched_name
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND true;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group
FROM (
  SELECT *
  FROM json_to_recordset(CAST(:rows AS json)) AS r(trigger_name text, trigger_group text, sched_name text)
) AS r
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[r.sched_name])
  AND t.trigger_name = r.trigger_name
  AND t.trigger_group = r.trigger_group
  AND r.sched_name = r.sched_name || ''
  AND (t.trigger_group, t.trigger_name) >= (r.trigger_group, r.trigger_name);

-- keyLists.triggerGroupsAmong
--   programs/steps/new-triggers.ts (storeNewTriggers)
-- SQLite
SELECT r.grp
FROM (SELECT value ->> 'grp' AS grp FROM json_each(:rows)) AS r
WHERE EXISTS (SELECT 1 FROM qrtz_triggers t WHERE t.sched_name = :scheduler AND t.trigger_group = r.grp);

-- PostgreSQL
SELECT r.grp
FROM (SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS r(grp text)) AS r
WHERE EXISTS (SELECT 1 FROM qrtz_triggers t WHERE t.sched_name = :scheduler AND t.trigger_group = r.grp);

-- keyLists.userOfCalendar
--   programs/scheduling/calendar-changes.ts (deleteCalendar)
-- Every engine
SELECT trigger_name, trigger_group
FROM qrtz_triggers
WHERE sched_name = :scheduler
  AND calendar_name = :name
LIMIT 1;

-- keyLists.stuck
--   cluster/node-duties.ts (NodeDuties)
--   cluster/recovery.ts (recoverAtStart)
-- Every engine
SELECT 1 AS found
FROM (
  SELECT 1
  FROM qrtz_triggers t
  WHERE t.sched_name = :scheduler
    AND t.trigger_state IN ('ACQUIRED', 'BLOCKED', 'PAUSED_BLOCKED')
    AND (
      (
        t.trigger_state = 'ACQUIRED'
          AND NOT EXISTS (
            SELECT 1
            FROM qrtz_fired_triggers f
            WHERE f.sched_name = t.sched_name
              AND f.trigger_name = t.trigger_name
              AND f.trigger_group = t.trigger_group
              AND f.state = 'ACQUIRED'
          )
      )
        OR (
          t.trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED')
            AND NOT EXISTS (
              SELECT 1
              FROM qrtz_fired_triggers f
              WHERE f.sched_name = t.sched_name
                AND f.job_name = t.job_name
                AND f.job_group = t.job_group
                AND f.state = 'EXECUTING'
            )
        )
    )
  UNION ALL
  SELECT 1
  FROM qrtz_triggers t
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time < -1
  UNION ALL
  SELECT 1
  FROM qrtz_triggers t
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time > 8640000000000000
  UNION ALL
  SELECT 1
  FROM qrtz_triggers t
  WHERE t.sched_name = :scheduler
    AND t.trigger_state <> 'WAITING'
    AND t.trigger_state <> 'ACQUIRED'
    AND t.trigger_state <> 'BLOCKED'
    AND t.trigger_state NOT IN ('WAITING', 'ACQUIRED', 'BLOCKED', 'PAUSED', 'PAUSED_BLOCKED', 'COMPLETE',
      'ERROR')
) AS s
LIMIT 1;

-- keyLists.waitingForNoTime
--   cluster/stuck-triggers.ts (freeStuckTriggers)
-- Every engine
SELECT s.trigger_name, s.trigger_group
FROM (
  SELECT t.trigger_name, t.trigger_group
  FROM qrtz_triggers t
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time < -1
  UNION ALL
  SELECT t.trigger_name, t.trigger_group
  FROM qrtz_triggers t
  WHERE t.sched_name = :scheduler
    AND t.trigger_state = 'WAITING'
    AND t.next_fire_time > 8640000000000000
) AS s
LIMIT :limit;

-- keyLists.inNoState
--   cluster/stuck-triggers.ts (freeStuckTriggers)
-- Every engine
SELECT t.trigger_name, t.trigger_group, t.trigger_state
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND t.trigger_state NOT IN ('WAITING', 'ACQUIRED', 'BLOCKED', 'PAUSED', 'PAUSED_BLOCKED', 'COMPLETE',
    'ERROR')
LIMIT :limit;

-- keyLists.acquiredWithoutClaim
--   cluster/stuck-triggers.ts (freeStuckTriggers)
-- Every engine
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'ACQUIRED'
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers f
    WHERE f.sched_name = t.sched_name
      AND f.trigger_name = t.trigger_name
      AND f.trigger_group = t.trigger_group
      AND f.state = 'ACQUIRED'
  )
LIMIT :limit;

-- keyLists.blockedWithoutExecution
--   cluster/stuck-triggers.ts (freeStuckTriggers)
-- Every engine
SELECT DISTINCT t.job_name, t.job_group
FROM qrtz_triggers t
WHERE t.sched_name = :scheduler
  AND t.trigger_state IN ('BLOCKED', 'PAUSED_BLOCKED')
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers f
    WHERE f.sched_name = t.sched_name
      AND f.job_name = t.job_name
      AND f.job_group = t.job_group
      AND f.state = 'EXECUTING'
  )
LIMIT :limit;

-- keyLists.ownJob
--   sql-job-store.ts (SqlJobStore)
-- Every engine
SELECT 1 AS found
FROM qrtz_job_details
WHERE sched_name = :scheduler
LIMIT 1;

-- keyLists.ownNode
--   sql-job-store.ts (SqlJobStore)
-- Every engine
SELECT 1 AS found
FROM qrtz_scheduler_state
WHERE sched_name = :scheduler
LIMIT 1;

-- keyLists.ownExecution
--   sql-job-store.ts (SqlJobStore)
-- Every engine
SELECT 1 AS found
FROM qrtz_execution_history
WHERE sched_name = :scheduler
LIMIT 1;

-- keyLists.nextScheduler
--   sql-job-store.ts (SqlJobStore)
-- Every engine
SELECT min(n.sched_name) AS sched_name
FROM (
  SELECT min(sched_name) AS sched_name
  FROM qrtz_job_details
  WHERE sched_name > :after
  UNION ALL
  SELECT min(sched_name) AS sched_name
  FROM qrtz_scheduler_state
  WHERE sched_name > :after
  UNION ALL
  SELECT min(sched_name) AS sched_name
  FROM qrtz_execution_history
  WHERE sched_name > :after
) AS n;

-- keyLists.jobKeys: of a matcher that names the beginning of the group
--   sql-job-store.ts (SqlJobStore)
-- SQLite
SELECT job_name AS name, job_group AS grp
FROM qrtz_job_details
WHERE sched_name = :scheduler
  AND substr(job_group, 1, length(:operand)) = :operand;

-- PostgreSQL
SELECT job_name AS name, job_group AS grp
FROM qrtz_job_details
WHERE sched_name = :scheduler
  AND starts_with(job_group, CAST(:operand AS text));

-- keyLists.triggerKeys: of a matcher that names the beginning of the group
--   sql-job-store.ts (SqlJobStore)
-- SQLite
SELECT trigger_name AS name, trigger_group AS grp
FROM qrtz_triggers
WHERE sched_name = :scheduler
  AND substr(trigger_group, 1, length(:operand)) = :operand;

-- PostgreSQL
SELECT trigger_name AS name, trigger_group AS grp
FROM qrtz_triggers
WHERE sched_name = :scheduler
  AND starts_with(trigger_group, CAST(:operand AS text));

-- keyLists.jobGroups: of a matcher that names the beginning of the group
--   programs/scheduling/pausing.ts (pauseJobs, resumeJobs)
--   sql-job-store.ts (SqlJobStore)
-- SQLite
SELECT DISTINCT '' AS name, job_group AS grp
FROM qrtz_job_details
WHERE sched_name = :scheduler
  AND substr(job_group, 1, length(:operand)) = :operand;

-- PostgreSQL
SELECT DISTINCT '' AS name, job_group AS grp
FROM qrtz_job_details
WHERE sched_name = :scheduler
  AND starts_with(job_group, CAST(:operand AS text));

-- keyLists.triggerGroups: of a matcher that names the beginning of the group
--   programs/scheduling/pausing.ts (pauseAll, pauseTriggers, resumeTriggers)
--   sql-job-store.ts (SqlJobStore)
-- SQLite
SELECT DISTINCT '' AS name, trigger_group AS grp
FROM qrtz_triggers
WHERE sched_name = :scheduler
  AND substr(trigger_group, 1, length(:operand)) = :operand;

-- PostgreSQL
SELECT DISTINCT '' AS name, trigger_group AS grp
FROM qrtz_triggers
WHERE sched_name = :scheduler
  AND starts_with(trigger_group, CAST(:operand AS text));

--------------------------------------
-- listings: what users list and count
--------------------------------------

-- listings.triggerCounts
--   sql-job-store.ts (SqlJobStore)
-- SQLite
SELECT 'WAITING' AS trigger_state, (SELECT count(*) FROM qrtz_triggers WHERE sched_name = :scheduler) -
  (SELECT count(*) FROM qrtz_triggers AS t WHERE t.sched_name = :scheduler AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED' AND t.trigger_state <> 'BLOCKED') - (
  SELECT count(*)
  FROM (
    SELECT DISTINCT f.sched_name, f.job_name, f.job_group
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = :scheduler
      AND f.state = 'EXECUTING'
      AND f.is_nonconcurrent
  ) AS f
    CROSS JOIN qrtz_triggers AS t
  WHERE t.sched_name = f.sched_name
    AND t.job_name = f.job_name
    AND t.job_group = f.job_group
    AND t.trigger_state = 'BLOCKED'
) AS triggers
UNION ALL
SELECT 'BLOCKED', count(*)
FROM (
  SELECT DISTINCT f.sched_name, f.job_name, f.job_group
  FROM qrtz_fired_triggers AS f
  WHERE f.sched_name = :scheduler
    AND f.state = 'EXECUTING'
    AND f.is_nonconcurrent
) AS f
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = f.sched_name
  AND t.job_name = f.job_name
  AND t.job_group = f.job_group
  AND t.trigger_state = 'BLOCKED'
UNION ALL
SELECT t.trigger_state, count(*)
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
GROUP BY t.trigger_state;

-- PostgreSQL
SELECT 'WAITING' AS trigger_state, (SELECT count(*) FROM qrtz_triggers WHERE sched_name = :scheduler) -
  (SELECT count(*) FROM qrtz_triggers AS t WHERE t.sched_name = :scheduler AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED' AND t.trigger_state <> 'BLOCKED') - (
  SELECT count(*)
  FROM (
    SELECT DISTINCT f.sched_name, f.job_name, f.job_group
    FROM qrtz_fired_triggers AS f
    WHERE f.sched_name = :scheduler
      AND f.state = 'EXECUTING'
      AND f.is_nonconcurrent
  ) AS f
    CROSS JOIN qrtz_triggers AS t
  WHERE t.sched_name = ANY(ARRAY[f.sched_name])
    AND t.job_name = ANY(ARRAY[f.job_name])
    AND t.job_group = f.job_group
    AND t.trigger_state = 'BLOCKED'
) AS triggers
UNION ALL
SELECT 'BLOCKED', count(*)
FROM (
  SELECT DISTINCT f.sched_name, f.job_name, f.job_group
  FROM qrtz_fired_triggers AS f
  WHERE f.sched_name = :scheduler
    AND f.state = 'EXECUTING'
    AND f.is_nonconcurrent
) AS f
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[f.sched_name])
  AND t.job_name = ANY(ARRAY[f.job_name])
  AND t.job_group = f.job_group
  AND t.trigger_state = 'BLOCKED'
UNION ALL
SELECT t.trigger_state, count(*)
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
GROUP BY t.trigger_state;

-- listings.jobGroupCounts
--   sql-job-store.ts (SqlJobStore)
-- Every engine
SELECT job_group AS grp, count(*) AS members
FROM qrtz_job_details
WHERE sched_name = :scheduler
GROUP BY job_group;

-- listings.triggerGroupCounts
--   sql-job-store.ts (SqlJobStore)
-- Every engine
SELECT trigger_group AS grp, count(*) AS members
FROM qrtz_triggers
WHERE sched_name = :scheduler
GROUP BY trigger_group;

-- listings.triggerState
--   joined-job-store.ts (JoinedJobStore)
--   sql-job-store.ts (SqlJobStore)
-- Every engine
SELECT trigger_state
FROM qrtz_triggers
WHERE sched_name = :scheduler
  AND trigger_name = :name
  AND trigger_group = :grp;

-- listings.dueByJobType
--   programs/reading/reading.ts (queryUnknownJobTypes)
-- SQLite
SELECT p.job_class_name, p.waiting, p.trigger_name, p.trigger_group, p.job_name, p.job_group
FROM (
  SELECT j.job_class_name, d.trigger_name, d.trigger_group, d.job_name, d.job_group,
    count(*) OVER (PARTITION BY j.job_class_name) AS waiting,
    row_number() OVER (PARTITION BY j.job_class_name ORDER BY d.next_fire_time, d.trigger_name) AS place
  FROM (
    SELECT t.sched_name, t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.next_fire_time
    FROM qrtz_triggers AS t
    WHERE t.sched_name = :scheduler
      AND t.trigger_state = 'WAITING'
      AND t.next_fire_time <= :untilMs
    ORDER BY t.next_fire_time
    LIMIT 10000
  ) AS d
    JOIN qrtz_job_details AS j ON j.sched_name = d.sched_name
      AND j.job_name = d.job_name
      AND j.job_group = d.job_group
) AS p
WHERE p.place <= 10
ORDER BY p.job_class_name, p.place;

-- PostgreSQL
SELECT p.job_class_name, p.waiting, p.trigger_name, p.trigger_group, p.job_name, p.job_group
FROM (
  SELECT j.job_class_name, d.trigger_name, d.trigger_group, d.job_name, d.job_group,
    count(*) OVER (PARTITION BY j.job_class_name) AS waiting,
    row_number() OVER (PARTITION BY j.job_class_name ORDER BY d.next_fire_time, d.trigger_name) AS place
  FROM (
    SELECT t.sched_name, t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.next_fire_time
    FROM qrtz_triggers AS t
    WHERE t.sched_name = :scheduler
      AND t.trigger_state = 'WAITING'
      AND t.next_fire_time <= :untilMs
    ORDER BY t.next_fire_time
    LIMIT 10000
  ) AS d
    JOIN qrtz_job_details AS j ON j.sched_name = ANY(ARRAY[d.sched_name])
      AND j.job_name = d.job_name
      AND j.job_group = d.job_group
) AS p
WHERE p.place <= 10
ORDER BY p.job_class_name, p.place;

-- listings.jobs: the group DEFAULT, with every condition that a query may have
--   programs/reading/reading.ts (queryJobs)
-- SQLite
SELECT j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
  j.is_nonconcurrent, j.is_update_data
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group = 'DEFAULT'
  AND j.job_name > :afterName
  AND j.job_name <= :untilName
  AND typeof(j.job_name) = 'text'
  AND typeof(j.job_group) = 'text'
  AND substr(j.job_group, 1, length(:operand)) = :operand
  AND j.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND j.job_class_name = :jobType
  AND (
    j.job_name LIKE :search ESCAPE '\'
      OR j.job_group LIKE :search ESCAPE '\'
      OR j.job_class_name LIKE :search ESCAPE '\'
      OR j.description LIKE :search ESCAPE '\'
  )
ORDER BY j.job_group , j.job_name
LIMIT :limit;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
  j.is_nonconcurrent, j.is_update_data
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group = 'DEFAULT'
  AND j.job_name COLLATE "C" > :afterName
  AND j.job_name COLLATE "C" <= :untilName
  AND true
  AND true
  AND starts_with(j.job_group, CAST(:operand AS text))
  AND j.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND j.job_class_name = :jobType
  AND (
    lower(j.job_name COLLATE "C") LIKE :search
      OR lower(j.job_group COLLATE "C") LIKE :search
      OR lower(j.job_class_name COLLATE "C") LIKE :search
      OR lower(j.description COLLATE "C") LIKE :search
  )
ORDER BY j.job_group COLLATE "C", j.job_name COLLATE "C"
LIMIT :limit;

-- listings.jobs.last: the group DEFAULT: the last row that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryJobs)
-- SQLite
SELECT j.job_name, j.job_group
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group = 'DEFAULT'
  AND j.job_name > :afterName
ORDER BY j.job_group , j.job_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT j.job_name, j.job_group
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group = 'DEFAULT'
  AND j.job_name COLLATE "C" > :afterName
ORDER BY j.job_group COLLATE "C", j.job_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

-- listings.jobs: the groups that sort before DEFAULT, with every condition that a query may have
--   programs/reading/reading.ts (queryJobs)
-- SQLite
SELECT j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
  j.is_nonconcurrent, j.is_update_data
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group < 'DEFAULT'
  AND (j.job_group , j.job_name ) > (:afterGroup, :afterName)
  AND (j.job_group , j.job_name ) <= (:untilGroup, :untilName)
  AND typeof(j.job_name) = 'text'
  AND typeof(j.job_group) = 'text'
  AND substr(j.job_group, 1, length(:operand)) = :operand
  AND j.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND j.job_class_name = :jobType
  AND (
    j.job_name LIKE :search ESCAPE '\'
      OR j.job_group LIKE :search ESCAPE '\'
      OR j.job_class_name LIKE :search ESCAPE '\'
      OR j.description LIKE :search ESCAPE '\'
  )
ORDER BY j.job_group , j.job_name
LIMIT :limit;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
  j.is_nonconcurrent, j.is_update_data
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group COLLATE "C" < 'DEFAULT'
  AND (j.job_group COLLATE "C", j.job_name COLLATE "C") > (:afterGroup, :afterName)
  AND (j.job_group COLLATE "C", j.job_name COLLATE "C") <= (:untilGroup, :untilName)
  AND true
  AND true
  AND starts_with(j.job_group, CAST(:operand AS text))
  AND j.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND j.job_class_name = :jobType
  AND (
    lower(j.job_name COLLATE "C") LIKE :search
      OR lower(j.job_group COLLATE "C") LIKE :search
      OR lower(j.job_class_name COLLATE "C") LIKE :search
      OR lower(j.description COLLATE "C") LIKE :search
  )
ORDER BY j.job_group COLLATE "C", j.job_name COLLATE "C"
LIMIT :limit;

-- listings.jobs.last: the groups that sort before DEFAULT: the last row that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryJobs)
-- SQLite
SELECT j.job_name, j.job_group
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group < 'DEFAULT'
  AND (j.job_group , j.job_name ) > (:afterGroup, :afterName)
ORDER BY j.job_group , j.job_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT j.job_name, j.job_group
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group COLLATE "C" < 'DEFAULT'
  AND (j.job_group COLLATE "C", j.job_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY j.job_group COLLATE "C", j.job_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

-- listings.jobs: the groups that sort behind it, with every condition that a query may have
--   programs/reading/reading.ts (queryJobs)
-- SQLite
SELECT j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
  j.is_nonconcurrent, j.is_update_data
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group <> 'DEFAULT'
  AND (j.job_group , j.job_name ) > (:afterGroup, :afterName)
  AND (j.job_group , j.job_name ) <= (:untilGroup, :untilName)
  AND typeof(j.job_name) = 'text'
  AND typeof(j.job_group) = 'text'
  AND substr(j.job_group, 1, length(:operand)) = :operand
  AND j.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND j.job_class_name = :jobType
  AND (
    j.job_name LIKE :search ESCAPE '\'
      OR j.job_group LIKE :search ESCAPE '\'
      OR j.job_class_name LIKE :search ESCAPE '\'
      OR j.description LIKE :search ESCAPE '\'
  )
ORDER BY j.job_group , j.job_name
LIMIT :limit;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
  j.is_nonconcurrent, j.is_update_data
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group <> 'DEFAULT'
  AND (j.job_group COLLATE "C", j.job_name COLLATE "C") > (:afterGroup, :afterName)
  AND (j.job_group COLLATE "C", j.job_name COLLATE "C") <= (:untilGroup, :untilName)
  AND true
  AND true
  AND starts_with(j.job_group, CAST(:operand AS text))
  AND j.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND j.job_class_name = :jobType
  AND (
    lower(j.job_name COLLATE "C") LIKE :search
      OR lower(j.job_group COLLATE "C") LIKE :search
      OR lower(j.job_class_name COLLATE "C") LIKE :search
      OR lower(j.description COLLATE "C") LIKE :search
  )
ORDER BY j.job_group COLLATE "C", j.job_name COLLATE "C"
LIMIT :limit;

-- listings.jobs.last: the groups that sort behind it: the last row that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryJobs)
-- SQLite
SELECT j.job_name, j.job_group
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group <> 'DEFAULT'
  AND (j.job_group , j.job_name ) > (:afterGroup, :afterName)
ORDER BY j.job_group , j.job_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT j.job_name, j.job_group
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND j.job_group <> 'DEFAULT'
  AND (j.job_group COLLATE "C", j.job_name COLLATE "C") > (:afterGroup, :afterName)
ORDER BY j.job_group COLLATE "C", j.job_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

-- listings.jobs: all groups, where another index finds the rows, with every condition that a query may have
--   programs/reading/reading.ts (queryJobs)
-- SQLite
SELECT j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
  j.is_nonconcurrent, j.is_update_data
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND (CASE WHEN j.job_group = 'DEFAULT' THEN 0 ELSE 1 END, j.job_group , j.job_name ) > (:afterRank,
    :afterGroup, :afterName)
  AND true
  AND typeof(j.job_name) = 'text'
  AND typeof(j.job_group) = 'text'
  AND substr(j.job_group, 1, length(:operand)) = :operand
  AND j.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND j.job_class_name = :jobType
  AND (
    j.job_name LIKE :search ESCAPE '\'
      OR j.job_group LIKE :search ESCAPE '\'
      OR j.job_class_name LIKE :search ESCAPE '\'
      OR j.description LIKE :search ESCAPE '\'
  )
ORDER BY CASE WHEN j.job_group = 'DEFAULT' THEN 0 ELSE 1 END, j.job_group , j.job_name
LIMIT :limit;

-- PostgreSQL
SELECT j.job_name, j.job_group, j.job_class_name, j.description, j.is_durable, j.requests_recovery,
  j.is_nonconcurrent, j.is_update_data
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND (CASE WHEN j.job_group = 'DEFAULT' THEN 0 ELSE 1 END, j.job_group COLLATE "C",
    j.job_name COLLATE "C") > (:afterRank, :afterGroup, :afterName)
  AND true
  AND true
  AND true
  AND starts_with(j.job_group, CAST(:operand AS text))
  AND j.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND j.job_class_name = :jobType
  AND (
    lower(j.job_name COLLATE "C") LIKE :search
      OR lower(j.job_group COLLATE "C") LIKE :search
      OR lower(j.job_class_name COLLATE "C") LIKE :search
      OR lower(j.description COLLATE "C") LIKE :search
  )
ORDER BY CASE WHEN j.job_group = 'DEFAULT' THEN 0 ELSE 1 END, j.job_group COLLATE "C", j.job_name COLLATE "C"
LIMIT :limit;

-- listings.jobs.last: all groups, where another index finds the rows: the last row that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryJobs)
-- SQLite
SELECT j.job_name, j.job_group
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND (CASE WHEN j.job_group = 'DEFAULT' THEN 0 ELSE 1 END, j.job_group , j.job_name ) > (:afterRank,
    :afterGroup, :afterName)
ORDER BY CASE WHEN j.job_group = 'DEFAULT' THEN 0 ELSE 1 END, j.job_group , j.job_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT j.job_name, j.job_group
FROM qrtz_job_details AS j
WHERE j.sched_name = :scheduler
  AND (CASE WHEN j.job_group = 'DEFAULT' THEN 0 ELSE 1 END, j.job_group COLLATE "C",
    j.job_name COLLATE "C") > (:afterRank, :afterGroup, :afterName)
ORDER BY CASE WHEN j.job_group = 'DEFAULT' THEN 0 ELSE 1 END, j.job_group COLLATE "C", j.job_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

-- listings.triggers: the group DEFAULT, with every condition that a query may have
--   programs/reading/reading.ts (queryTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group = 'DEFAULT'
  AND t.trigger_name > :afterName
  AND t.trigger_name <= :untilName
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND typeof(t.trigger_name) = 'text'
  AND typeof(t.trigger_group) = 'text'
  AND substr(t.trigger_group, 1, length(:operand)) = :operand
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND t.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    t.trigger_name LIKE :search ESCAPE '\'
      OR t.trigger_group LIKE :search ESCAPE '\'
      OR t.description LIKE :search ESCAPE '\'
      OR t.job_name LIKE :search ESCAPE '\'
  )
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group = 'DEFAULT'
  AND t.trigger_name COLLATE "C" > :afterName
  AND t.trigger_name COLLATE "C" <= :untilName
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND true
  AND true
  AND starts_with(t.trigger_group, CAST(:operand AS text))
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND t.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    lower(t.trigger_name COLLATE "C") LIKE :search
      OR lower(t.trigger_group COLLATE "C") LIKE :search
      OR lower(t.description COLLATE "C") LIKE :search
      OR lower(t.job_name COLLATE "C") LIKE :search
  )
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit;

-- listings.triggers.last: the group DEFAULT: the last row that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group = 'DEFAULT'
  AND t.trigger_name > :afterName
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
ORDER BY t.trigger_group , t.trigger_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group = 'DEFAULT'
  AND t.trigger_name COLLATE "C" > :afterName
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

-- listings.triggers: the groups that sort before DEFAULT, with every condition that a query may have
--   programs/reading/reading.ts (queryTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group < 'DEFAULT'
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
  AND (t.trigger_group , t.trigger_name ) <= (:untilGroup, :untilName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND typeof(t.trigger_name) = 'text'
  AND typeof(t.trigger_group) = 'text'
  AND substr(t.trigger_group, 1, length(:operand)) = :operand
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND t.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    t.trigger_name LIKE :search ESCAPE '\'
      OR t.trigger_group LIKE :search ESCAPE '\'
      OR t.description LIKE :search ESCAPE '\'
      OR t.job_name LIKE :search ESCAPE '\'
  )
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group COLLATE "C" < 'DEFAULT'
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") <= (:untilGroup, :untilName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND true
  AND true
  AND starts_with(t.trigger_group, CAST(:operand AS text))
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND t.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    lower(t.trigger_name COLLATE "C") LIKE :search
      OR lower(t.trigger_group COLLATE "C") LIKE :search
      OR lower(t.description COLLATE "C") LIKE :search
      OR lower(t.job_name COLLATE "C") LIKE :search
  )
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit;

-- listings.triggers.last: the groups that sort before DEFAULT: the last row that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group < 'DEFAULT'
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
ORDER BY t.trigger_group , t.trigger_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group COLLATE "C" < 'DEFAULT'
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

-- listings.triggers: the groups that sort behind it, with every condition that a query may have
--   programs/reading/reading.ts (queryTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group <> 'DEFAULT'
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
  AND (t.trigger_group , t.trigger_name ) <= (:untilGroup, :untilName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND typeof(t.trigger_name) = 'text'
  AND typeof(t.trigger_group) = 'text'
  AND substr(t.trigger_group, 1, length(:operand)) = :operand
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND t.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    t.trigger_name LIKE :search ESCAPE '\'
      OR t.trigger_group LIKE :search ESCAPE '\'
      OR t.description LIKE :search ESCAPE '\'
      OR t.job_name LIKE :search ESCAPE '\'
  )
ORDER BY t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group <> 'DEFAULT'
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") <= (:untilGroup, :untilName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND true
  AND true
  AND starts_with(t.trigger_group, CAST(:operand AS text))
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND t.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    lower(t.trigger_name COLLATE "C") LIKE :search
      OR lower(t.trigger_group COLLATE "C") LIKE :search
      OR lower(t.description COLLATE "C") LIKE :search
      OR lower(t.job_name COLLATE "C") LIKE :search
  )
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT :limit;

-- listings.triggers.last: the groups that sort behind it: the last row that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group <> 'DEFAULT'
  AND (t.trigger_group , t.trigger_name ) > (:afterGroup, :afterName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
ORDER BY t.trigger_group , t.trigger_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_group <> 'DEFAULT'
  AND (t.trigger_group COLLATE "C", t.trigger_name COLLATE "C") > (:afterGroup, :afterName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
ORDER BY t.trigger_group COLLATE "C", t.trigger_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

-- listings.triggers: all groups, where another index finds the rows, with every condition that a query may have
--   programs/reading/reading.ts (queryTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
    t.trigger_name ) > (:afterRank, :afterGroup, :afterName)
  AND true
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND typeof(t.trigger_name) = 'text'
  AND typeof(t.trigger_group) = 'text'
  AND substr(t.trigger_group, 1, length(:operand)) = :operand
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND t.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    t.trigger_name LIKE :search ESCAPE '\'
      OR t.trigger_group LIKE :search ESCAPE '\'
      OR t.description LIKE :search ESCAPE '\'
      OR t.job_name LIKE :search ESCAPE '\'
  )
ORDER BY CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group , t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C") > (:afterRank, :afterGroup, :afterName)
  AND true
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
  AND true
  AND true
  AND starts_with(t.trigger_group, CAST(:operand AS text))
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.trigger_state IN ('PAUSED', 'PAUSED_BLOCKED')
  AND t.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    lower(t.trigger_name COLLATE "C") LIKE :search
      OR lower(t.trigger_group COLLATE "C") LIKE :search
      OR lower(t.description COLLATE "C") LIKE :search
      OR lower(t.job_name COLLATE "C") LIKE :search
  )
ORDER BY CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit;

-- listings.triggers.last: all groups, where another index finds the rows: the last row that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
    t.trigger_name ) > (:afterRank, :afterGroup, :afterName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
ORDER BY CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group , t.trigger_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
    t.trigger_name COLLATE "C") > (:afterRank, :afterGroup, :afterName)
  AND t.trigger_state <> 'WAITING'
  AND t.trigger_state <> 'ACQUIRED'
  AND t.trigger_state <> 'BLOCKED'
ORDER BY CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

---------------------------------------------------------
-- nextTriggers: triggers in the order in which they fire
---------------------------------------------------------

-- nextTriggers.lastWaiting: the last trigger that one page looks at, where it leaves some out
--   programs/reading/reading.ts (queryNextTriggers)
-- SQLite
SELECT t.next_fire_time, t.priority, t.trigger_group, t.trigger_name
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time >= :afterMs
  AND (
    t.next_fire_time > :afterMs
      OR t.priority < :afterPriority
      OR (
        t.priority = :afterPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
            t.trigger_name ) > (:afterRank, :afterGroup, :afterName)
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group , t.trigger_name
LIMIT 1 OFFSET :skipped;

-- PostgreSQL
SELECT t.next_fire_time, t.priority, t.trigger_group, t.trigger_name
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time >= :afterMs
  AND (
    t.next_fire_time > :afterMs
      OR t.priority < :afterPriority
      OR (
        t.priority = :afterPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
            t.trigger_name COLLATE "C") > (:afterRank, :afterGroup, :afterName)
      )
  )
ORDER BY t.next_fire_time, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT 1 OFFSET :skipped;

-- nextTriggers.waiting: with every condition that a query may have
--   programs/reading/reading.ts (queryNextTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time + 0 >= :afterMs
  AND (
    t.next_fire_time > :afterMs
      OR t.priority < :afterPriority
      OR (
        t.priority = :afterPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
            t.trigger_name ) > (:afterRank, :afterGroup, :afterName)
      )
  )
  AND t.next_fire_time <= :untilMs
  AND (
    t.next_fire_time < :untilMs
      OR t.priority > :untilPriority
      OR (
        t.priority = :untilPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
            t.trigger_name ) <= (:untilRank, :untilGroup, :untilName)
      )
  )
  AND typeof(t.trigger_name) = 'text'
  AND typeof(t.trigger_group) = 'text'
  AND substr(t.trigger_group, 1, length(:operand)) = :operand
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    t.trigger_name LIKE :search ESCAPE '\'
      OR t.trigger_group LIKE :search ESCAPE '\'
      OR t.description LIKE :search ESCAPE '\'
      OR t.job_name LIKE :search ESCAPE '\'
  )
ORDER BY t.next_fire_time + 0, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group ,
  t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_triggers AS t
WHERE t.sched_name = :scheduler
  AND t.trigger_state = 'WAITING'
  AND t.next_fire_time + 0 >= :afterMs
  AND (
    t.next_fire_time > :afterMs
      OR t.priority < :afterPriority
      OR (
        t.priority = :afterPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
            t.trigger_name COLLATE "C") > (:afterRank, :afterGroup, :afterName)
      )
  )
  AND t.next_fire_time <= :untilMs
  AND (
    t.next_fire_time < :untilMs
      OR t.priority > :untilPriority
      OR (
        t.priority = :untilPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
            t.trigger_name COLLATE "C") <= (:untilRank, :untilGroup, :untilName)
      )
  )
  AND true
  AND true
  AND starts_with(t.trigger_group, CAST(:operand AS text))
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    lower(t.trigger_name COLLATE "C") LIKE :search
      OR lower(t.trigger_group COLLATE "C") LIKE :search
      OR lower(t.description COLLATE "C") LIKE :search
      OR lower(t.job_name COLLATE "C") LIKE :search
  )
ORDER BY t.next_fire_time + 0, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit;

-- nextTriggers.claimed: with every condition that a query may have
--   programs/reading/reading.ts (queryNextTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_fired_triggers AS f
  CROSS JOIN qrtz_triggers AS t
WHERE f.sched_name = :scheduler
  AND f.state = 'ACQUIRED'
  AND t.trigger_state = 'ACQUIRED'
  AND t.sched_name = f.sched_name
  AND t.trigger_name = f.trigger_name
  AND t.trigger_group = f.trigger_group
  AND t.next_fire_time + 0 >= :afterMs
  AND (
    t.next_fire_time > :afterMs
      OR t.priority < :afterPriority
      OR (
        t.priority = :afterPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
            t.trigger_name ) > (:afterRank, :afterGroup, :afterName)
      )
  )
  AND t.next_fire_time <= :untilMs
  AND (
    t.next_fire_time < :untilMs
      OR t.priority > :untilPriority
      OR (
        t.priority = :untilPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
            t.trigger_name ) <= (:untilRank, :untilGroup, :untilName)
      )
  )
  AND typeof(t.trigger_name) = 'text'
  AND typeof(t.trigger_group) = 'text'
  AND substr(t.trigger_group, 1, length(:operand)) = :operand
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    t.trigger_name LIKE :search ESCAPE '\'
      OR t.trigger_group LIKE :search ESCAPE '\'
      OR t.description LIKE :search ESCAPE '\'
      OR t.job_name LIKE :search ESCAPE '\'
  )
ORDER BY t.next_fire_time + 0, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group ,
  t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM qrtz_fired_triggers AS f
  CROSS JOIN qrtz_triggers AS t
WHERE f.sched_name = :scheduler
  AND f.state = 'ACQUIRED'
  AND t.trigger_state = 'ACQUIRED'
  AND t.sched_name = ANY(ARRAY[f.sched_name])
  AND t.trigger_name = f.trigger_name
  AND t.trigger_group = f.trigger_group
  AND t.next_fire_time + 0 >= :afterMs
  AND (
    t.next_fire_time > :afterMs
      OR t.priority < :afterPriority
      OR (
        t.priority = :afterPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
            t.trigger_name COLLATE "C") > (:afterRank, :afterGroup, :afterName)
      )
  )
  AND t.next_fire_time <= :untilMs
  AND (
    t.next_fire_time < :untilMs
      OR t.priority > :untilPriority
      OR (
        t.priority = :untilPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
            t.trigger_name COLLATE "C") <= (:untilRank, :untilGroup, :untilName)
      )
  )
  AND true
  AND true
  AND starts_with(t.trigger_group, CAST(:operand AS text))
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    lower(t.trigger_name COLLATE "C") LIKE :search
      OR lower(t.trigger_group COLLATE "C") LIKE :search
      OR lower(t.description COLLATE "C") LIKE :search
      OR lower(t.job_name COLLATE "C") LIKE :search
  )
ORDER BY t.next_fire_time + 0, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit;

-- nextTriggers.blocked: with every condition that a query may have
--   programs/reading/reading.ts (queryNextTriggers)
-- SQLite
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM (
  SELECT DISTINCT f.sched_name, f.job_name, f.job_group
  FROM qrtz_fired_triggers AS f
  WHERE f.sched_name = :scheduler
    AND f.state = 'EXECUTING'
    AND f.is_nonconcurrent
) AS f
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = f.sched_name
  AND t.job_name = f.job_name
  AND t.job_group = f.job_group
  AND t.trigger_state = 'BLOCKED'
  AND t.next_fire_time + 0 >= :afterMs
  AND (
    t.next_fire_time > :afterMs
      OR t.priority < :afterPriority
      OR (
        t.priority = :afterPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
            t.trigger_name ) > (:afterRank, :afterGroup, :afterName)
      )
  )
  AND t.next_fire_time <= :untilMs
  AND (
    t.next_fire_time < :untilMs
      OR t.priority > :untilPriority
      OR (
        t.priority = :untilPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group ,
            t.trigger_name ) <= (:untilRank, :untilGroup, :untilName)
      )
  )
  AND typeof(t.trigger_name) = 'text'
  AND typeof(t.trigger_group) = 'text'
  AND substr(t.trigger_group, 1, length(:operand)) = :operand
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.job_group IN (SELECT value FROM json_each(:jobGroups))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = t.sched_name
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    t.trigger_name LIKE :search ESCAPE '\'
      OR t.trigger_group LIKE :search ESCAPE '\'
      OR t.description LIKE :search ESCAPE '\'
      OR t.job_name LIKE :search ESCAPE '\'
  )
ORDER BY t.next_fire_time + 0, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group ,
  t.trigger_name
LIMIT :limit;

-- PostgreSQL
SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.trigger_type, t.trigger_state,
  t.description, t.calendar_name, t.priority, t.next_fire_time, t.prev_fire_time
FROM (
  SELECT DISTINCT f.sched_name, f.job_name, f.job_group
  FROM qrtz_fired_triggers AS f
  WHERE f.sched_name = :scheduler
    AND f.state = 'EXECUTING'
    AND f.is_nonconcurrent
) AS f
  CROSS JOIN qrtz_triggers AS t
WHERE t.sched_name = ANY(ARRAY[f.sched_name])
  AND t.job_name = ANY(ARRAY[f.job_name])
  AND t.job_group = f.job_group
  AND t.trigger_state = 'BLOCKED'
  AND t.next_fire_time + 0 >= :afterMs
  AND (
    t.next_fire_time > :afterMs
      OR t.priority < :afterPriority
      OR (
        t.priority = :afterPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
            t.trigger_name COLLATE "C") > (:afterRank, :afterGroup, :afterName)
      )
  )
  AND t.next_fire_time <= :untilMs
  AND (
    t.next_fire_time < :untilMs
      OR t.priority > :untilPriority
      OR (
        t.priority = :untilPriority
          AND (CASE WHEN t.trigger_group = 'DEFAULT' THEN 0 ELSE 1 END, t.trigger_group COLLATE "C",
            t.trigger_name COLLATE "C") <= (:untilRank, :untilGroup, :untilName)
      )
  )
  AND true
  AND true
  AND starts_with(t.trigger_group, CAST(:operand AS text))
  AND t.job_name = :jobName
  AND t.job_group = :jobGroup
  AND t.trigger_name = :name
  AND t.calendar_name = :calendarName
  AND t.job_group = ANY(ARRAY(SELECT json_array_elements_text(CAST(:jobGroups AS json))))
  AND EXISTS (
    SELECT 1
    FROM qrtz_job_details AS j
    WHERE j.sched_name = ANY(ARRAY[t.sched_name])
      AND j.job_name = t.job_name
      AND j.job_group = t.job_group
      AND j.job_class_name = :jobType
  )
  AND t.next_fire_time > 0
  AND t.next_fire_time < :dueBeforeMs
  AND t.trigger_state <> 'COMPLETE'
  AND (
    lower(t.trigger_name COLLATE "C") LIKE :search
      OR lower(t.trigger_group COLLATE "C") LIKE :search
      OR lower(t.description COLLATE "C") LIKE :search
      OR lower(t.job_name COLLATE "C") LIKE :search
  )
ORDER BY t.next_fire_time + 0, t.priority DESC, (t.trigger_group <> 'DEFAULT'), t.trigger_group COLLATE "C",
  t.trigger_name COLLATE "C"
LIMIT :limit;

-------------------------------------------------
-- nodes: scheduler_state: the nodes of a cluster
-------------------------------------------------

-- nodes.load
--   cluster/lost-items.ts (hasItemsOfGone, offerAllItemsOfGone, settleLostItems)
--   cluster/own-node.ts (OwnNode)
--   cluster/recovery.ts (recoverNode)
--   cluster/registration.ts (register)
--   programs/firing/splitting.ts (splitCircumstances)
--   sql-notes.ts (SqlNotes)
SELECT 'node' AS kind, s.instance_name, s.boot_id, s.last_checkin_time, s.checkin_interval, s.node_info
FROM qrtz_scheduler_state s
WHERE s.sched_name = :scheduler
UNION ALL
SELECT DISTINCT 'orphan', f.instance_name, NULL, CAST(0 AS bigint), CAST(0 AS bigint), NULL
FROM qrtz_fired_triggers f
WHERE f.sched_name = :scheduler
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_scheduler_state s
    WHERE s.sched_name = f.sched_name
      AND s.instance_name = f.instance_name
  )
UNION ALL
SELECT 'time', NULL, NULL, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint), NULL, NULL;

-- nodes.loadRegistered
--   cluster/other-locking.ts (requireSameLocking)
SELECT 'node' AS kind, s.instance_name, s.boot_id, s.last_checkin_time, s.checkin_interval, s.node_info
FROM qrtz_scheduler_state s
WHERE s.sched_name = :scheduler
UNION ALL
SELECT 'time', NULL, NULL, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint), NULL, NULL;

-- nodes.insert
--   cluster/registration.ts (register)
INSERT INTO qrtz_scheduler_state (sched_name, instance_name, boot_id, last_checkin_time, checkin_interval,
  node_info)
VALUES (:scheduler, :instance, :boot, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint), :interval,
  :info)
ON CONFLICT DO NOTHING;

-- nodes.checkIn
--   cluster/own-node.ts (OwnNode)
UPDATE qrtz_scheduler_state
SET last_checkin_time = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint),
  checkin_interval = :interval, node_info = :info
WHERE sched_name = :scheduler
  AND instance_name = :instance
  AND boot_id = :boot;

-- nodes.deleteAsSeen
--   cluster/recovery.ts (recoverNode)
--   cluster/registration.ts (register)
DELETE FROM qrtz_scheduler_state
WHERE sched_name = :scheduler
  AND instance_name = :instance
  AND COALESCE(boot_id, '') = :boot
  AND CASE WHEN last_checkin_time BETWEEN -8640000000000000 AND 8640000000000000 THEN last_checkin_time ELSE 0
    END = :last;

-- nodes.leave
--   cluster/cluster-node.ts (ClusterNode)
DELETE FROM qrtz_scheduler_state AS s
WHERE sched_name = :scheduler
  AND instance_name = :instance
  AND boot_id = :boot
  AND NOT EXISTS (
    SELECT 1
    FROM qrtz_fired_triggers f
    WHERE f.sched_name = s.sched_name
      AND f.instance_name = s.instance_name
      AND NOT EXISTS (
        SELECT 1
        FROM qrtz_awaited_results AS a
        WHERE a.fire_id = f.entry_id
          AND a.sched_name || '' = f.sched_name OFFSET 0
      )
  );

---------------------------------------------
-- notes: notes: small texts that nodes share
---------------------------------------------

-- notes.get
--   jobstore/sql/sql-notes.ts (SqlNotes)
-- Every engine
SELECT note_name, note_version, note_text
FROM qrtz_notes
WHERE sched_name = :scheduler
  AND note_kind = :kind
  AND note_name = :name;

-- notes.lockBeginning
--   jobstore/sql/sql-notes.ts (SqlNotes)
-- SQLite
SELECT substr(n.note_text, 1, 40) AS beginning
FROM qrtz_notes AS n
WHERE sched_name = :scheduler
  AND note_kind = :kind
  AND note_name = :name;

-- PostgreSQL
SELECT substr(n.note_text, 1, 40) AS beginning
FROM qrtz_notes AS n
WHERE sched_name = :scheduler
  AND note_kind = :kind
  AND note_name = :name FOR SHARE OF n;

-- notes.list
--   jobstore/sql/sql-notes.ts (SqlNotes)
-- SQLite
SELECT note_name, note_version, note_text
FROM qrtz_notes
WHERE sched_name = :scheduler
  AND note_kind = :kind
ORDER BY note_name
LIMIT :limit;

-- PostgreSQL
SELECT note_name, note_version, note_text
FROM qrtz_notes
WHERE sched_name = :scheduler
  AND note_kind = :kind
ORDER BY note_name COLLATE "C"
LIMIT :limit;

-- notes.insert
--   jobstore/sql/sql-notes.ts (SqlNotes)
-- Every engine
INSERT INTO qrtz_notes (sched_name, note_kind, note_name, note_version, note_text)
VALUES (:scheduler, :kind, :name, 1, :text)
ON CONFLICT DO NOTHING;

-- notes.update
--   jobstore/sql/sql-notes.ts (SqlNotes)
-- Every engine
UPDATE qrtz_notes
SET note_text = :text, note_version = note_version + 1
WHERE sched_name = :scheduler
  AND note_kind = :kind
  AND note_name = :name
  AND note_version = :version;

-- notes.delete
--   jobstore/sql/sql-notes.ts (SqlNotes)
-- Every engine
DELETE FROM qrtz_notes
WHERE sched_name = :scheduler
  AND note_kind = :kind
  AND note_name = :name
  AND note_version = :version;

----------------------------------------------------------------------------
-- lease: scheduler_state: the one scheduler that fires on a SQLite database
----------------------------------------------------------------------------

-- lease.holders
--   jobstore/sqlite/scheduler-lease.ts (SchedulerLease)
SELECT instance_name, boot_id, last_checkin_time, node_info
FROM qrtz_scheduler_state
WHERE sched_name = :scheduler
  AND boot_id <> :bootId
ORDER BY last_checkin_time DESC;

-- lease.releaseOthers
--   jobstore/sqlite/scheduler-lease.ts (SchedulerLease)
DELETE FROM qrtz_scheduler_state WHERE sched_name = :scheduler AND (boot_id IS NULL OR boot_id <> :bootId);

-- lease.hold
--   jobstore/sqlite/scheduler-lease.ts (SchedulerLease)
INSERT INTO qrtz_scheduler_state (sched_name, instance_name, last_checkin_time, checkin_interval, boot_id,
  node_info)
VALUES (:scheduler, :instanceId, :nowMs, :checkinIntervalMs, :bootId, :nodeInfo)
ON CONFLICT (sched_name, instance_name) DO UPDATE SET last_checkin_time = excluded.last_checkin_time;

-- lease.checkIn
--   jobstore/sqlite/scheduler-lease.ts (SchedulerLease)
UPDATE qrtz_scheduler_state SET last_checkin_time = :nowMs WHERE sched_name = :scheduler AND boot_id = :bootId;

-- lease.prove
--   jobstore/sqlite/scheduler-lease.ts (SchedulerLease)
SELECT 1 AS held
FROM qrtz_scheduler_state
WHERE sched_name = :scheduler
  AND boot_id = :bootId;

-- lease.release
--   jobstore/sqlite/scheduler-lease.ts (SchedulerLease)
DELETE FROM qrtz_scheduler_state WHERE sched_name = :scheduler AND boot_id = :bootId;

-----------------------------------------------------------------------------------------------------
-- Locks that a transaction takes on PostgreSQL when it begins, for a scheduler named QuartzScheduler
-----------------------------------------------------------------------------------------------------

-- none, for a check-in: skipLocked
-- nothing

-- none, for a check-in: quartzLocks
-- nothing

-- rows, for acquiring, firing, completing, resuming one trigger: skipLocked
-- nothing

-- rows, for acquiring, firing, completing, resuming one trigger: quartzLocks
SELECT lock_name
FROM qrtz_locks
WHERE sched_name = 'QuartzScheduler'
  AND lock_name = 'TRIGGER_ACCESS'
FOR UPDATE;

-- shared, for storing, deleting, pausing one trigger or job: skipLocked
SELECT pg_advisory_xact_lock_shared(-5054017454423357608);

-- shared, for storing, deleting, pausing one trigger or job: quartzLocks
SELECT lock_name
FROM qrtz_locks
WHERE sched_name = 'QuartzScheduler'
  AND lock_name = 'TRIGGER_ACCESS'
FOR UPDATE;

-- exclusive, for groups, calendars, everything: skipLocked
SELECT pg_advisory_xact_lock(-5054017454423357608);

-- exclusive, for groups, calendars, everything: quartzLocks
SELECT lock_name
FROM qrtz_locks
WHERE sched_name = 'QuartzScheduler'
  AND lock_name = 'TRIGGER_ACCESS'
FOR UPDATE;

-- cluster, for recovery: skipLocked
SELECT pg_advisory_xact_lock(-8972253300228487514);
SELECT pg_advisory_xact_lock_shared(-5054017454423357608);

-- cluster, for recovery: quartzLocks
SELECT lock_name
FROM qrtz_locks
WHERE sched_name = 'QuartzScheduler'
  AND lock_name = 'STATE_ACCESS'
FOR UPDATE;
SELECT lock_name
FROM qrtz_locks
WHERE sched_name = 'QuartzScheduler'
  AND lock_name = 'TRIGGER_ACCESS'
FOR UPDATE;

-- schema, for migrations: skipLocked
SELECT pg_advisory_xact_lock(-1930864098579477342);

-- schema, for migrations: quartzLocks
SELECT pg_advisory_xact_lock(-1930864098579477342);
