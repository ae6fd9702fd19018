import { unreachable } from './invariant.ts'

export const matchOperators = ['equals', 'startsWith', 'endsWith', 'contains', 'anything'] as const
export type MatchOperator = (typeof matchOperators)[number]

interface KeyLike {
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
    this.operator = operator
    this.operand = operand
  }

  static groupEquals(group: string): GroupMatcher {
    return new GroupMatcher('equals', group)
  }
  static groupStartsWith(prefix: string): GroupMatcher {
    return new GroupMatcher('startsWith', prefix)
  }
  static groupEndsWith(suffix: string): GroupMatcher {
    return new GroupMatcher('endsWith', suffix)
  }
  static groupContains(part: string): GroupMatcher {
    return new GroupMatcher('contains', part)
  }
  static anyGroup(): GroupMatcher {
    return new GroupMatcher('anything', '')
  }

  isMatchGroup(group: string): boolean {
    return compare(this.operator, group, this.operand)
  }
  isMatch(key: KeyLike): boolean {
    return this.isMatchGroup(key.group)
  }
}

/** Matches keys by their name, whatever the group. For listeners. */
export class NameMatcher implements Matcher {
  readonly operator: MatchOperator
  readonly operand: string

  private constructor(operator: MatchOperator, operand: string) {
    this.operator = operator
    this.operand = operand
  }

  static nameEquals(name: string): NameMatcher {
    return new NameMatcher('equals', name)
  }
  static nameStartsWith(prefix: string): NameMatcher {
    return new NameMatcher('startsWith', prefix)
  }
  static nameEndsWith(suffix: string): NameMatcher {
    return new NameMatcher('endsWith', suffix)
  }
  static nameContains(part: string): NameMatcher {
    return new NameMatcher('contains', part)
  }

  isMatch(key: KeyLike): boolean {
    return compare(this.operator, key.name, this.operand)
  }
}

/** Matches one key. */
export function keyEquals(key: KeyLike): Matcher {
  return { isMatch: (other) => other.name === key.name && other.group === key.group }
}

/** Matches every key. */
export function everything(): Matcher {
  return { isMatch: () => true }
}

export function and(left: Matcher, right: Matcher): Matcher {
  return { isMatch: (key) => left.isMatch(key) && right.isMatch(key) }
}

export function or(left: Matcher, right: Matcher): Matcher {
  return { isMatch: (key) => left.isMatch(key) || right.isMatch(key) }
}

export function not(matcher: Matcher): Matcher {
  return { isMatch: (key) => !matcher.isMatch(key) }
}
