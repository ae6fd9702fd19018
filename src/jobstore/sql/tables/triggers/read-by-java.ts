import { InvalidArgumentError } from '../../../../core/errors.ts'
import { asJavaMeans, differenceInJava } from '../../../../triggers/cron/java-reading.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { TriggerFamily } from '../../../../triggers/trigger-family.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { textOrNull } from '../encoding/columns.ts'

/** Java's meaning of blank, which unlike that of this package counts all control characters. */
const blankInJava = /^[\0- ]*$/

/**
 * Refuses a trigger for tables shared with Java nodes that those cannot read, or read otherwise. A Java node that
 * cannot read a due trigger gives up its whole search, and each one after that: it fires nothing any more.
 *
 * @throws InvalidArgumentError ERR_INVALID_TRIGGER naming the field and the remedy; ERR_NOT_SUPPORTED for a trigger of
 *   a family that Java does not have
 */
export function requireReadByJava(trigger: Trigger, family: TriggerFamily): void {
  requireNames(trigger)
  if (TriggerFamilies.ofLibrary.ofStoredType(family.storedType) === null) {
    const problem = `Java has no trigger of the type '${trigger.type}', and fires nothing any more when one is due`
    const remedy = 'Use a trigger of Quartz, or a store of its own'
    throw new InvalidArgumentError('type', told(trigger, `${problem}. ${remedy}`), 'ERR_NOT_SUPPORTED')
  }
  if (family.table !== 'cron_triggers') return
  const { cron_expression: expression, cron_dialect: dialect } = family.toColumns(trigger)
  if (typeof dialect === 'string') {
    const remedy = `Write the expression in Quartz's dialect, such as '0 0/5 * * * ?'`
    throw refusal(trigger, 'dialect', `Java does not know the dialect '${dialect}'. ${remedy}`)
  }
  const difference = differenceInJava(String(expression))
  if (difference !== null) throw refusal(trigger, 'cronExpression', difference)
}

function requireNames(trigger: Trigger): void {
  const { key, jobKey } = trigger
  requireName(trigger, 'name', key.name)
  requireName(trigger, 'group', key.group)
  if (jobKey === null) return
  requireName(trigger, 'jobKey.name', jobKey.name)
  requireName(trigger, 'jobKey.group', jobKey.group)
}

function requireName(trigger: Trigger, field: string, name: string): void {
  if (!blankInJava.test(name)) return
  throw refusal(
    trigger,
    field,
    `Java takes '${field}' for blank: it has control characters only. Use letters`,
  )
}

function refusal(trigger: Trigger, field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, told(trigger, problem), 'ERR_INVALID_TRIGGER')
}

function told({ key }: Trigger, problem: string): string {
  return `Trigger '${key.toString()}' does not suit the Java nodes that share the tables: ${problem}.`
}

/**
 * Refuses a row of `cron_triggers` that Java wrote and reads otherwise than this package.
 *
 * @throws InvalidArgumentError ERR_NOT_SUPPORTED
 */
export function requireReadAsByJava(row: SqlRow): void {
  // Java leaves this library's columns empty.
  if (textOrNull(row, 'dst_policy') !== null) return
  const difference = differenceInJava(asJavaMeans(textOrNull(row, 'cron_expression') ?? ''))
  if (difference === null) return
  throw new InvalidArgumentError('cronExpression', difference, 'ERR_NOT_SUPPORTED')
}
