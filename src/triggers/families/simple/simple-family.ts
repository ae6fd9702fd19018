import { simpleMisfireInstructions } from '../../misfire-instruction.ts'
import type { ScheduleRow, TriggerFamily } from '../../trigger-family.ts'
import type { TriggerFields } from '../../trigger-fields.ts'
import { type SimpleSeries, SimpleTrigger, type SimpleTriggerFields } from './simple-trigger.ts'

type Json = Omit<SimpleTriggerFields, 'misfireInstruction'>

export const simpleFamily: TriggerFamily<SimpleTrigger> = {
  type: 'simple',
  storedType: 'SIMPLE',
  misfireInstructions: simpleMisfireInstructions,
  table: 'simple_triggers',
  columns: { repeat_count: 'repeatCount', repeat_interval: 'repeatInterval', moved_from: 'movedFrom' },

  toJSON({ repeatCount, repeatIntervalMs, movedFrom }): Json {
    return { repeatCount, repeatIntervalMs, ...(movedFrom !== null && { movedFrom }) }
  },

  fromJSON(fields, json, misfireInstruction) {
    return new SimpleTrigger(fields, { ...(json as unknown as Json), misfireInstruction })
  },

  toColumns({ repeatCount, repeatIntervalMs, movedFrom, startTimeMs }) {
    return {
      repeat_count: repeatCount,
      repeat_interval: repeatIntervalMs,
      moved_from: movedFrom && `${movedFrom.startTimeMs} ${movedFrom.repeatCount} ${startTimeMs}`,
    }
  },

  fromColumns(fields, row, misfireInstruction) {
    return new SimpleTrigger(fields, {
      repeatCount: row.integer('repeat_count'),
      repeatIntervalMs: row.integer('repeat_interval'),
      misfireInstruction,
      movedFrom: movedFrom(fields, row),
    })
  },
}

/** Java does not know the column and leaves it as it is: then the start is another one than it names. */
function movedFrom({ startTimeMs }: TriggerFields, row: ScheduleRow): SimpleSeries | null {
  const text = row.textOrNull('moved_from')
  if (text === null) return null
  const [fromMs = Number.NaN, repeatCount = Number.NaN, toMs] = text.split(' ').map(Number)
  return toMs === startTimeMs ? { startTimeMs: fromMs, repeatCount } : null
}
