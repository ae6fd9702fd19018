import { unreachable } from '../../../../core/errors.ts'
import type { GroupMatcher } from '../../../../core/matcher.ts'
import type { SqlDialect } from '../../kernel/sql-dialect.ts'

/** A condition on a group column, with the value of its parameter `:operand` when it has one. */
export function groupPredicate(
  dialect: SqlDialect,
  column: string,
  { operator, operand }: GroupMatcher,
): { readonly text: string; readonly values: Readonly<Record<string, string>> } {
  const values = { operand }
  switch (operator) {
    case 'equals':
      return { text: `${column} = :operand`, values }
    case 'startsWith':
      return { text: dialect.startsWith(column, ':operand'), values }
    case 'endsWith':
      return { text: dialect.endsWith(column, ':operand'), values }
    case 'contains':
      return { text: dialect.contains(column, ':operand'), values }
    case 'anything':
      return { text: 'true', values: {} }
    default:
      return unreachable(operator)
  }
}

/** Names of groups, bound as one value: what {@link groupsOf} makes a set of. */
export function groupRows(groups: Iterable<string>): string {
  return JSON.stringify(Array.from(groups, (grp) => ({ grp })))
}

/** A table expression over the groups that are bound as `:parameter`, one in each row, as `grp`. */
export function groupTable(dialect: SqlDialect, parameter: string = 'rows'): string {
  return dialect.rowSet(parameter, { grp: 'text' })
}

/** The same as the list behind `IN`. */
export function groupsOf(dialect: SqlDialect, parameter: string = 'rows'): string {
  return `(SELECT r.grp FROM ${groupTable(dialect, parameter)} AS r)`
}
