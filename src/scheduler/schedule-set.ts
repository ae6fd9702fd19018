import { JobKey } from '../core/key.ts'
import { isObject } from '../core/options.ts'

/** What nodes share about a set of schedules. */
export interface SetRecord {
  /** One more with each declaration that differs from the one before. */
  readonly generation: number
  readonly digest: string
  readonly version: number | null
  /** The names and groups of the jobs that may belong to the set. */
  readonly members: readonly (readonly [name: string, group: string])[]
  /** What each node has declared last, by instance id. */
  readonly nodes: Readonly<Record<string, string>>
  /** Declarations that were in force before, those of late last. */
  readonly superseded: readonly string[]
}

/** What a node declares. */
export interface Declaration {
  readonly digest: string
  readonly version: number | null
  readonly members: SetRecord['members']
}

/**
 * When an older form takes over from a newer one that no other live node has. `never`: nodes with the newer one may
 * only be restarting. `always`: this node has waited for them. `fromItself`: when the newer one is what this process
 * itself has declared.
 */
export type TakeOver = 'never' | 'fromItself' | 'always'

export interface ReconcileManner {
  readonly dryRun: boolean
  readonly mayTakeOver: TakeOver
  /** Called once the record says that the declaration is in force, before it is carried out, which may fail. */
  readonly onInForce?: () => unknown
}

/** How many former declarations are known again. */
const supersededMax = 20

const none: SetRecord = { generation: 0, digest: '', version: null, members: [], nodes: {}, superseded: [] }

/** A record that cannot be read counts as none: the next declaration writes a new one. */
export function setRecordOf(text: string): SetRecord {
  try {
    return setRecordFrom(JSON.parse(text))
  } catch {
    return none
  }
}

/** Of what was read of a text. */
export function setRecordFrom(found: unknown): SetRecord {
  return isRecord(found) ? found : none
}

function isRecord(found: unknown): found is SetRecord {
  if (!isObject(found)) return false
  const { generation, digest, version, members, nodes, superseded } = found as Partial<
    Record<keyof SetRecord, unknown>
  >
  return (
    isCount(generation) &&
    typeof digest === 'string' &&
    (version === null || isCount(version)) &&
    isListOf(members, (member) => isListOf(member, isText) && member.length === 2) &&
    isObject(nodes) &&
    isListOf(superseded, isText)
  )
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every(isItem)
}

/** Whether a declaration was replaced by the one that is in force. */
function isOlder(record: SetRecord, { digest, version }: Declaration): boolean {
  if (record.generation === 0 || record.digest === digest) return false
  if (version !== null && record.version !== null && version !== record.version)
    return version < record.version
  return record.superseded.includes(digest)
}

export interface Declarer {
  /** The instance ids of live nodes; null where this is the only one. */
  readonly live: ReadonlySet<string> | null
  readonly instanceId: string
  readonly mayTakeOver: TakeOver
}

/** Whether a declaration is older than the one in force, and may not take over yet. */
export function isDeferred(
  record: SetRecord,
  declaration: Declaration,
  { live, instanceId, mayTakeOver }: Declarer,
): boolean {
  // Without a cluster this node is the only one.
  if (live === null || !isOlder(record, declaration)) return false
  const isOwn = record.nodes[instanceId] === record.digest
  const hasWaited = mayTakeOver === 'always' || (mayTakeOver === 'fromItself' && isOwn)
  return !hasWaited || isHeldByOthers(record, instanceId, live)
}

/** Whether another live node has declared what is in force. */
function isHeldByOthers(record: SetRecord, instanceId: string, live: ReadonlySet<string>): boolean {
  return Object.entries(record.nodes).some(
    ([id, digest]) => id !== instanceId && digest === record.digest && live.has(id),
  )
}

/** The record with what a node has declared, and without nodes that are gone. */
export function withNode(
  record: SetRecord,
  { digest }: Declaration,
  instanceId: string,
  live: ReadonlySet<string> | null,
): SetRecord {
  const nodes = Object.entries(record.nodes).filter(([id]) => id !== instanceId && live?.has(id) === true)
  nodes.push([instanceId, digest])
  nodes.sort(([a], [b]) => (a < b ? -1 : 1))
  return { ...record, nodes: Object.fromEntries(nodes) }
}

/** The record once a declaration is in force. Former members stay in it until they are removed. */
export function withDeclaration(record: SetRecord, declared: Declaration): SetRecord {
  const { digest, version } = declared
  const { members } = withMembers(record, declared.members)
  if (record.digest === digest) return { ...record, version: newerOf(record.version, version), members }
  const superseded = [...record.superseded, record.digest].filter((each) => each !== digest && each !== '')
  return {
    ...record,
    generation: record.generation + 1,
    digest,
    version,
    members,
    superseded: superseded.slice(-supersededMax),
  }
}

/** An older program that declares the same leaves the version to compare with that of the newer one. */
function newerOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}

export function withMembers(record: SetRecord, members: SetRecord['members']): SetRecord {
  return { ...record, members: [...record.members, ...without(members, record.members)] }
}

/** The members of a record that a declaration does not have. */
export function formerMembers(record: SetRecord, { members }: Declaration): JobKey[] {
  return without(record.members, members).map(([name, group]) => new JobKey(name, group))
}

export function memberOf({ name, group }: JobKey): SetRecord['members'][number] {
  return [name, group]
}

function without(members: SetRecord['members'], others: SetRecord['members']): SetRecord['members'] {
  const left = new Set(others.map((member) => JSON.stringify(member)))
  return members.filter((member) => !left.has(JSON.stringify(member)))
}
