import { emptyJobDataMap } from '../../../../core/job-data-map.ts'
import type { TriggerKey } from '../../../../core/key.ts'
import { describeValue } from '../../../../core/options.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import { type MisfireInstruction, misfireInstructionOf } from '../../../../triggers/misfire-instruction.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { ScheduleTable, TriggerFamily } from '../../../../triggers/trigger-family.ts'
import type { TriggerFields } from '../../../../triggers/trigger-fields.ts'
import { type StoredTriggerState, storedTriggerStates } from '../../../trigger-state.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { BoundedCache } from '../encoding/bounded-cache.ts'
import { brokenValue } from '../encoding/broken-row.ts'
import {
  anyText,
  bytesOrNull,
  instantOrNull,
  integer,
  integerOrNull,
  text,
  textOrNull,
} from '../encoding/columns.ts'
import { readJobData } from '../encoding/job-data-text.ts'
import { jobKeyColumns, jobKeyOf, requireUsableKeys, triggerKeyColumns } from '../encoding/key-rows.ts'
import { requireReadAsByJava } from './read-by-java.ts'
import { scheduleSelection, scheduleTableNames } from './schedule-tables.ts'
import { StoredSchedule, scheduleOf, timesOf } from './stored-schedule.ts'

/** How many values that triggers have in common, such as parsed expressions, are kept of each family. */
const sharedValuesKept = 2000

/** The columns of a whole trigger: `t` is `triggers`, these tables of the families are joined from the left. */
export function wholeTriggerColumns(tables: readonly ScheduleTable[] = scheduleTableNames): string {
  return `t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.description,
  t.next_fire_time, t.prev_fire_time, t.priority, t.trigger_state, t.trigger_type, t.start_time, t.end_time,
  t.calendar_name, t.misfire_instr, t.job_data, t.misfire_orig_fire_time, ${scheduleSelection(tables)}`
}

const statesByName: ReadonlyMap<string, StoredTriggerState> = new Map(
  storedTriggerStates.map((state) => [state, state]),
)

/** The state of a row; null for an unknown word. */
export function stateOf(row: SqlRow): StoredTriggerState | null {
  return statesByName.get(anyText(row, 'trigger_state')) ?? null
}

/** Makes triggers of rows, each by its family. Caches values that triggers of a family have in common. */
export class TriggerDecoder {
  readonly #families: TriggerFamilies
  readonly #sharedWithJava: boolean
  readonly #shared = new Map<TriggerFamily, BoundedCache<unknown>>()

  constructor(families: TriggerFamilies, sharedWithJava: boolean) {
    this.#families = families
    this.#sharedWithJava = sharedWithJava
  }

  /** @throws JobPersistenceError ERR_BROKEN_ROW and what constructors of triggers throw */
  decode(key: TriggerKey, row: SqlRow): { readonly trigger: Trigger; readonly state: StoredTriggerState } {
    requireUsableKeys(row, triggerKeyColumns, jobKeyColumns)
    const state = stateOf(row)
    if (state === null) {
      const found = describeValue(row['trigger_state'])
      throw brokenValue(`'trigger_state' is ${found}, which is no state. Correct or delete the row`)
    }
    const data = bytesOrNull(row, 'job_data')
    const trigger = this.#trigger(row, {
      key,
      jobKey: jobKeyOf(row),
      description: textOrNull(row, 'description'),
      calendarName: textOrNull(row, 'calendar_name'),
      jobDataMap: data === null ? emptyJobDataMap : readJobData(data),
      priority: integerOrNull(row, 'priority') ?? 0,
      startTimeMs: integer(row, 'start_time'),
      endTimeMs: instantOrNull(row, 'end_time'),
    })
    trigger.validate()
    return { trigger, state }
  }

  #trigger(row: SqlRow, fields: TriggerFields): Trigger {
    const family = this.#families.ofStoredType(text(row, 'trigger_type'))
    if (family === null) throw unknownType(row)
    const { table } = family
    const schedule = scheduleOf(row, table)
    if (schedule === null) throw brokenValue(`it has no row in '${table}'. Delete it, or schedule it anew`)
    if (this.#sharedWithJava && table === 'cron_triggers') requireReadAsByJava(schedule)
    const stored = new StoredSchedule(schedule, this.#sharedOf(family))
    const times = timesOf(schedule, table)
    return family.fromColumns(fields, stored, instructionOf(row, family)).withFireState({
      nextFireTimeMs: instantOrNull(row, 'next_fire_time'),
      previousFireTimeMs: instantOrNull(row, 'prev_fire_time'),
      timesTriggered: times === 0 && isMarkedAsFiredOnce(row) ? 1 : times,
      misfiredFireTimeMs: misfiredFireTime(row),
    })
  }

  #sharedOf(family: TriggerFamily): BoundedCache<unknown> {
    let shared = this.#shared.get(family)
    if (shared === undefined) {
      shared = new BoundedCache(sharedValuesKept)
      this.#shared.set(family, shared)
    }
    return shared
  }
}

/** Whether the count of a trigger that has fired once was left unwritten; see `firedOnceColumns`. */
function isMarkedAsFiredOnce(row: SqlRow): boolean {
  const previousMs = instantOrNull(row, 'prev_fire_time')
  return previousMs !== null && instantOrNull(row, 'misfire_orig_fire_time') === previousMs
}

function unknownType(row: SqlRow): Error {
  if (text(row, 'trigger_type') === 'BLOB') {
    return brokenValue(
      'it is of type BLOB, which is a Java object that only Java can read. Leave it to Java nodes, or ' +
        'schedule it anew here',
    )
  }
  return brokenValue(
    `its type is ${describeValue(row['trigger_type'])}, which is not known here. Name its family here ` +
      '(createScheduler({ triggerFamilies })), leave it to the nodes that know it, or schedule it anew',
  )
}

/**
 * The time that a misfire instruction moved, until the trigger has fired. Java does not know the column and leaves it
 * as it is when it fires the trigger; then the previous fire time has passed it.
 */
function misfiredFireTime(row: SqlRow): EpochMs | null {
  const misfiredMs = instantOrNull(row, 'misfire_orig_fire_time')
  const previousMs = instantOrNull(row, 'prev_fire_time')
  return misfiredMs !== null && previousMs !== null && previousMs >= misfiredMs ? null : misfiredMs
}

function instructionOf(row: SqlRow, family: TriggerFamily): MisfireInstruction {
  const code = integerOrNull(row, 'misfire_instr') ?? 0
  const instruction = misfireInstructionOf(family.misfireInstructions, code)
  if (instruction !== null) return instruction
  throw brokenValue(`'misfire_instr' is ${code}, which means nothing for its type. Correct it`)
}
