import { describeValue } from '../../../core/options.ts'
import { TimeZone } from '../../../time/zone.ts'
import { cronDialects } from '../../cron/cron-dialect.ts'
import { CronExpression } from '../../cron/cron-expression.ts'
import type { CronExpressionJson } from '../../cron/cron-times.ts'
import { cronDsts } from '../../cron/dst-policy.ts'
import { asJavaMeans } from '../../cron/java-reading.ts'
import { invalidTrigger } from '../../invalid-trigger.ts'
import { calendarMisfireInstructions } from '../../misfire-instruction.ts'
import type { ScheduleRow, TriggerFamily } from '../../trigger-family.ts'
import { CronTrigger } from './cron-trigger.ts'

export const cronFamily: TriggerFamily<CronTrigger> = {
  type: 'cron',
  storedType: 'CRON',
  misfireInstructions: calendarMisfireInstructions,
  table: 'cron_triggers',
  columns: {
    cron_expression: 'cronExpression',
    time_zone_id: 'timeZone',
    dst_policy: 'dst',
    cron_dialect: 'dialect',
  },
  keepsScheduleOnMisfire: true,

  toJSON({ cronExpression }): { readonly cronExpression: CronExpressionJson } {
    return { cronExpression: cronExpression.toJSON() }
  },

  fromJSON(fields, json, misfireInstruction) {
    return new CronTrigger(fields, {
      cronExpression: requireCron(json['cronExpression']),
      misfireInstruction,
    })
  },

  toColumns({ cronExpression: { expression, timeZone, dst, dialect } }) {
    return {
      cron_expression: expression,
      time_zone_id: timeZone,
      dst_policy: dst,
      cron_dialect: dialect === 'quartz' ? null : dialect,
    }
  },

  fromColumns(fields, row, misfireInstruction) {
    return new CronTrigger(fields, { cronExpression: cronExpressionOf(row), misfireInstruction })
  },
}

function requireCron(json: unknown): CronExpression {
  const { expression } = Object(json) as Partial<CronExpressionJson>
  if (typeof expression === 'string') return CronExpression.parse(expression, json as CronExpressionJson)
  throw invalidTrigger(
    'Trigger',
    'cronExpression',
    `'cronExpression' must have an 'expression', got ${describeValue(json)}.`,
  )
}

/** Many triggers have the same few expressions, so each is parsed once. */
function cronExpressionOf(row: ScheduleRow): CronExpression {
  const isOfJava = row.textOrNull('dst_policy') === null
  const stored = row.text('cron_expression')
  const expression = isOfJava ? asJavaMeans(stored) : stored
  const timeZone = row.textOrNull('time_zone_id') ?? TimeZone.system().name
  // Java leaves this library's columns empty, and such expressions mean what they mean to Java.
  const dst = isOfJava ? 'quartz' : row.oneOf('dst_policy', cronDsts)
  const dialect = row.textOrNull('cron_dialect') === null ? 'quartz' : row.oneOf('cron_dialect', cronDialects)
  return row.shared(JSON.stringify([expression, timeZone, dst, dialect]), () => {
    return CronExpression.parse(expression, { timeZone, dst, dialect, seconds: 'optional' })
  })
}
