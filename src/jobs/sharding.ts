import { checkOneOf, checkThat } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, isObject, refuseUnknownKeys, requireInteger } from '../core/options.ts'

/** Most items of one firing. */
export const shardItemsMax = 1000

/** The longest parameter of an item, in characters. */
const parameterMax = 1000

export const shardStrategies = [
  'sticky',
  'avgAllocation',
  'odevity',
  'roundRobin',
  'singleShardingBalance',
] as const

/**
 * How items are spread over the nodes. `sticky` leaves as many items as it can where they were when nodes come and go,
 * and gives no node more than its share. The others are those of Elastic-Job: whole shares in order of instance ids and
 * the rest to the first nodes (`avgAllocation`), the same with the nodes backwards for jobs whose name has an even hash
 * (`odevity`), or begun at the node that the hash of the job's name says (`roundRobin`), or that the hash and the
 * instant of the firing say (`singleShardingBalance`).
 */
export type ShardStrategy = (typeof shardStrategies)[number]

export interface ShardingOptions {
  /**
   * How many items each firing has, 1 to 1000; or `nodes`: one on every live node, a broadcast; or `remote`: as many as
   * the remote job says when it fires, as jobs of `xxlJob` do whose route is SHARDING_BROADCAST.
   */
  readonly items: number | 'nodes' | 'remote'
  /** How items are spread over the nodes; those of `remote` are given to the node that fires. Default `sticky`. */
  readonly strategy?: ShardStrategy
  /** Texts for items, by their numbers, which begin with 0; at most 1000 characters each. Default: none. */
  readonly parameters?: Readonly<Record<number, string>>
  /**
   * What happens to an item that is still running when the next firing comes: it runs once more when it has ended
   * (`runOnce`), or is left out of that firing (`skip`). Those of `remote` never wait: the other side has its own rule
   * for work that overlaps. Default `runOnce`.
   */
  readonly misfire?: 'runOnce' | 'skip'
}

/** How the firings of a job are split, with all defaults filled in. */
export interface Sharding {
  readonly items: number | 'nodes' | 'remote'
  readonly strategy: ShardStrategy
  readonly parameters: Readonly<Record<number, string>>
  readonly misfire: 'runOnce' | 'skip'
}

/** The part of a firing that an execution runs. */
export interface Shard {
  /** 0 to `total - 1`. */
  readonly item: number
  /** How many items the firing has. */
  readonly total: number
  /** The text of `parameters` for this item; null when there is none. */
  readonly parameter: string | null
  /** The firing: the same for all of its items, also when one is tried again or run on another node. */
  readonly firingId: string
}

const checkSplit = checkThat('an object such as { items: 3 }', isObject)
const known = ['items', 'strategy', 'parameters', 'misfire']
const misfires = ['runOnce', 'skip'] as const

/**
 * Fills in the defaults and refuses what makes no sense.
 *
 * @param what who was called, for messages
 * @param path what fields of errors begin with, such as `sharding.`
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, ERR_INVALID_OPTION
 */
export function resolveSharding(
  options: ShardingOptions,
  what: string = 'withSharding',
  path: string = '',
): Sharding {
  const argument = path === '' ? 'options' : path.slice(0, -1)
  checkSplit(what, argument, options)
  refuseUnknownKeys(what, options, known, argument, path)
  const { items, strategy = 'sticky', parameters = {}, misfire = 'runOnce' } = options
  if (items !== 'nodes' && items !== 'remote')
    requireInteger(what, `${path}items`, items, { min: 1, max: shardItemsMax })
  checkOneOf(shardStrategies)(what, `${path}strategy`, strategy, 'ERR_INVALID_OPTION')
  checkOneOf(misfires)(what, `${path}misfire`, misfire, 'ERR_INVALID_OPTION')
  const problem = problemOfParameters(parameters, items)
  if (problem !== null) {
    const field = `${path}parameters`
    throw new InvalidArgumentError(field, `${what}: '${field}' ${problem}.`, 'ERR_INVALID_OPTION')
  }
  return Object.freeze({ items, strategy, parameters: Object.freeze({ ...parameters }), misfire })
}

/**
 * The sharding of a stored job. What a newer version has written beside is not looked at, and a strategy or a misfire
 * rule that is not known is the default, so that nodes of both versions run the job.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function storedSharding(stored: object): Sharding {
  const { items, strategy, parameters, misfire }: Partial<Record<keyof Sharding, unknown>> = stored
  return resolveSharding({
    items,
    strategy: shardStrategies.find((each) => each === strategy),
    parameters,
    misfire: misfires.find((each) => each === misfire),
  } as ShardingOptions)
}

function problemOfParameters(parameters: unknown, items: ShardingOptions['items']): string | null {
  if (!isObject(parameters)) return `must be an object of texts, got ${describeValue(parameters)}`
  const end = typeof items === 'number' ? items : shardItemsMax
  for (const [item, value] of Object.entries(parameters) as [string, unknown][]) {
    if (!/^(?:0|[1-9]\d{0,3})$/.test(item) || Number(item) >= end)
      return `names item '${item}', where 0 to ${String(end - 1)} belongs`
    if (typeof value !== 'string' || value.length > parameterMax)
      return `must hold texts of at most ${String(parameterMax)} characters`
  }
  return null
}
