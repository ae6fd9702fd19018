import { simpleMisfireInstructions } from '../../misfire-instruction.ts'
import type { TriggerFamily } from '../../trigger-family.ts'
import { SimpleTrigger, type SimpleTriggerFields } from './simple-trigger.ts'

type Json = Omit<SimpleTriggerFields, 'misfireInstruction'>

export const simpleFamily: TriggerFamily<SimpleTrigger> = {
  type: 'simple',
  storedType: 'SIMPLE',
  misfireInstructions: simpleMisfireInstructions,
  table: 'simple_triggers',
  columns: { repeat_count: 'repeatCount', repeat_interval: 'repeatInterval' },

  toJSON({ repeatCount, repeatIntervalMs }): Json {
    return { repeatCount, repeatIntervalMs }
  },

  fromJSON(fields, json, misfireInstruction) {
    return new SimpleTrigger(fields, { ...(json as unknown as Json), misfireInstruction })
  },

  toColumns({ repeatCount, repeatIntervalMs }) {
    return { repeat_count: repeatCount, repeat_interval: repeatIntervalMs }
  },

  fromColumns(fields, row, misfireInstruction) {
    return new SimpleTrigger(fields, {
      repeatCount: row.integer('repeat_count'),
      repeatIntervalMs: row.integer('repeat_interval'),
      misfireInstruction,
    })
  },
}
