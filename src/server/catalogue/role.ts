/** What a principal may do, from the least to the most: look, steer, change definitions. */
export const roles: readonly [Role, ...Role[]] = ['viewer', 'operator', 'admin']
export type Role = 'viewer' | 'operator' | 'admin'

/** True when `role` is `least` or more. */
export function isAtLeast(role: Role | null, least: Role): boolean {
  return role !== null && roles.indexOf(role) >= roles.indexOf(least)
}

/** Who sends a request, and what it may do. */
export interface Principal {
  /** For the audit. */
  readonly name: string
  /** On everything; null for one that has roles on job groups alone. */
  readonly role: Role | null
  /** More on the jobs of some groups, and on their triggers and executions. Default none. */
  readonly jobGroups?: Readonly<Record<string, Role>>
}

/** The permissions of a principal. */
export class Access {
  readonly principal: Principal
  readonly #groups: ReadonlyMap<string, Role>

  constructor(principal: Principal) {
    this.principal = principal
    this.#groups = new Map(Object.entries(principal.jobGroups ?? {}))
  }

  /** On everything. */
  has(least: Role): boolean {
    return isAtLeast(this.principal.role, least)
  }

  /** On some job group at least. */
  hasSomewhere(least: Role): boolean {
    return this.has(least) || [...this.#groups.values()].some((role) => isAtLeast(role, least))
  }

  /** The job groups on which the role is held; null for everything. */
  groupsWith(least: Role): readonly string[] | null {
    if (this.has(least)) return null
    return [...this.#groups].filter(([, role]) => isAtLeast(role, least)).map(([group]) => group)
  }

  /** On the jobs of a group. */
  hasOn(jobGroup: string, least: Role): boolean {
    return this.has(least) || isAtLeast(this.#groups.get(jobGroup) ?? null, least)
  }
}
