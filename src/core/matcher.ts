import { type ArgumentCheck, checkMethods, checkString, checkThat, refuseNew } from './arguments.ts'
import { unreachable } from './errors.ts'
import { isObject } from './options.ts'

export const matchOperators = ['equals', 'startsWith', 'endsWith', 'contains', 'anything'] as const
/** How a matcher compares a group or name with its text. */
export type MatchOperator = (typeof matchOperators)[number]

/** What both kinds of keys have. */
export interface KeyLike {
  readonly name: string
  readonly group: string
}

/** A predicate over keys. */
export interface Matcher {
  isMatch(key: KeyLike): boolean
}

function compare(operator: MatchOperator, value: string, operand: string): boolean {
  switch (operator) {
    case 'equals':
      return value === operand
    case 'startsWith':
      return value.startsWith(operand)
    case 'endsWith':
      return value.endsWith(operand)
    case 'contains':
      return value.includes(operand)
    case 'anything':
      return true
    default:
      return unreachable(operator)
  }
}

/**
 * Matches keys by their group. The one matcher that stores accept: it is data (operator and operand), so that a
 * database can evaluate it.
 */
export class GroupMatcher implements Matcher {
  readonly operator: MatchOperator
  readonly operand: string

  private constructor(operator: MatchOperator, operand: string) {
    checkOperator('GroupMatcher', 'anyGroup', operator)
    this.operator = operator
    this.operand = operand
  }

  static groupEquals(group: string): GroupMatcher {
    return new GroupMatcher('equals', text('GroupMatcher.groupEquals', 'group', group))
  }
  static groupStartsWith(prefix: string): GroupMatcher {
    return new GroupMatcher('startsWith', text('GroupMatcher.groupStartsWith', 'prefix', prefix))
  }
  static groupEndsWith(suffix: string): GroupMatcher {
    return new GroupMatcher('endsWith', text('GroupMatcher.groupEndsWith', 'suffix', suffix))
  }
  static groupContains(part: string): GroupMatcher {
    return new GroupMatcher('contains', text('GroupMatcher.groupContains', 'part', part))
  }
  static anyGroup(): GroupMatcher {
    return new GroupMatcher('anything', '')
  }

  isMatchGroup(group: string): boolean {
    checkString('isMatchGroup', 'group', group)
    return compare(this.operator, group, this.operand)
  }
  isMatch(key: KeyLike): boolean {
    checkKeyLike('isMatch', 'key', key)
    return compare(this.operator, key.group, this.operand)
  }
}

/** Matches keys by their name, whatever the group. For listeners. */
export class NameMatcher implements Matcher {
  readonly operator: MatchOperator
  readonly operand: string

  private constructor(operator: MatchOperator, operand: string) {
    checkOperator('NameMatcher', 'nameEquals', operator)
    this.operator = operator
    this.operand = operand
  }

  static nameEquals(name: string): NameMatcher {
    return new NameMatcher('equals', text('NameMatcher.nameEquals', 'name', name))
  }
  static nameStartsWith(prefix: string): NameMatcher {
    return new NameMatcher('startsWith', text('NameMatcher.nameStartsWith', 'prefix', prefix))
  }
  static nameEndsWith(suffix: string): NameMatcher {
    return new NameMatcher('endsWith', text('NameMatcher.nameEndsWith', 'suffix', suffix))
  }
  static nameContains(part: string): NameMatcher {
    return new NameMatcher('contains', text('NameMatcher.nameContains', 'part', part))
  }

  isMatch(key: KeyLike): boolean {
    checkKeyLike('isMatch', 'key', key)
    return compare(this.operator, key.name, this.operand)
  }
}

function checkOperator(className: string, example: string, operator: unknown): void {
  if (matchOperators.some((known) => known === operator)) return
  refuseNew(className, 'operator', operator, `its static methods, such as ${className}.${example}`)
}

function text(method: string, argument: string, value: string): string {
  checkString(method, argument, value)
  return value
}

export const checkGroupMatcher: ArgumentCheck = checkThat(
  'a GroupMatcher',
  (value) => isObject(value) && isGroupMatcher(value),
  "Make one, as in GroupMatcher.groupEquals('reports') or GroupMatcher.anyGroup().",
)

// By shape, so that a matcher of a second copy of the package will do.
function isGroupMatcher(value: object): boolean {
  const { operator, operand } = value as { readonly operator?: unknown; readonly operand?: unknown }
  return (
    typeof Reflect.get(value, 'isMatchGroup') === 'function' &&
    matchOperators.some((known) => known === operator) &&
    typeof operand === 'string'
  )
}

export const checkMatcher: ArgumentCheck = checkMethods(
  'a matcher',
  ['isMatch'],
  "Make one, as in GroupMatcher.groupEquals('reports') or keyEquals(jobKey('daily')).",
)

const checkKeyLike: ArgumentCheck = checkThat(
  'a key',
  (value) =>
    isObject(value) &&
    typeof Reflect.get(value, 'name') === 'string' &&
    typeof Reflect.get(value, 'group') === 'string',
  "Make one with jobKey('name', 'group') or triggerKey('name', 'group').",
)

/** Matches one key. */
export function keyEquals(key: KeyLike): Matcher {
  checkKeyLike('keyEquals', 'key', key)
  return {
    isMatch: (other) => {
      checkKeyLike('isMatch', 'key', other)
      return other.name === key.name && other.group === key.group
    },
  }
}

/** Matches every key. */
export function everything(): Matcher {
  return { isMatch: () => true }
}

export function and(left: Matcher, right: Matcher): Matcher {
  checkMatcher('and', 'left', left)
  checkMatcher('and', 'right', right)
  return { isMatch: (key) => left.isMatch(key) && right.isMatch(key) }
}

export function or(left: Matcher, right: Matcher): Matcher {
  checkMatcher('or', 'left', left)
  checkMatcher('or', 'right', right)
  return { isMatch: (key) => left.isMatch(key) || right.isMatch(key) }
}

export function not(matcher: Matcher): Matcher {
  checkMatcher('not', 'matcher', matcher)
  return { isMatch: (key) => !matcher.isMatch(key) }
}
