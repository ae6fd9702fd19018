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
