import { isObject } from '../../core/options.ts'

/** The routes that choose by what they chose before. */
export type CountingRoute = 'ROUND' | 'LEAST_FREQUENTLY_USED' | 'LEAST_RECENTLY_USED'

/** A whole number from 0 to below the bound. */
export type RandomBelow = (bound: number) => number

/** What a route remembers of one job. */
export interface RouteMemory {
  /** The number of the last turn. */
  round: number | null
  /** How often each address was chosen. */
  readonly uses: Map<string, number>
  /** Addresses, the one that was chosen longest ago first. */
  readonly recent: Set<string>
}

/** A number past it says nothing any more. */
const countMax = 1_000_000

export function noMemory(): RouteMemory {
  return { round: null, uses: new Map(), recent: new Set() }
}

/** The place of the address that is next, which is then remembered; the addresses must not be none. */
export function choose(
  route: CountingRoute,
  memory: RouteMemory,
  addresses: readonly string[],
  random: RandomBelow,
): number {
  switch (route) {
    case 'ROUND':
      return nextRound(memory, random) % addresses.length
    case 'LEAST_FREQUENTLY_USED':
      return leastFrequent(memory.uses, addresses, random)
    case 'LEAST_RECENTLY_USED':
      return leastRecent(memory.recent, addresses)
  }
}

export function encodeMemory({ round, uses, recent }: RouteMemory, day: number): string {
  return JSON.stringify({ day, round, uses: [...uses], recent: [...recent] })
}

/** Null for what makes no sense. */
export function decodeMemory(text: string): { readonly day: number; readonly memory: RouteMemory } | null {
  const parsed = parsedOf(text)
  if (!isObject(parsed)) return null
  const { day, round, uses, recent }: Readonly<Record<string, unknown>> = { ...parsed }
  if (!isCount(day) || (round !== null && !isCount(round))) return null
  if (!Array.isArray(uses) || !uses.every(isUse)) return null
  if (!Array.isArray(recent) || !recent.every(isText)) return null
  return { day, memory: { round, uses: new Map(uses), recent: new Set(recent) } }
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
const isText = (value: unknown): value is string => typeof value === 'string'
const isUse = (value: unknown): value is [string, number] =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && isCount(value[1])

/** The first number is random, so that not all jobs begin with the same address. */
function nextRound(memory: RouteMemory, random: RandomBelow): number {
  const isFresh = memory.round === null || memory.round >= countMax
  memory.round = isFresh ? random(100) : (memory.round ?? 0) + 1
  return memory.round
}

function leastFrequent(uses: Map<string, number>, addresses: readonly string[], random: RandomBelow): number {
  keepOnly(uses, addresses)
  for (const address of addresses) {
    if ((uses.get(address) ?? Number.POSITIVE_INFINITY) > countMax)
      uses.set(address, random(addresses.length))
  }
  const counts = addresses.map((address) => uses.get(address) ?? 0)
  // Not spread over arguments: there may be thousands.
  const least = counts.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY)
  const index = counts.indexOf(least)
  uses.set(addresses[index] ?? '', least + 1)
  return index
}

function leastRecent(recent: Set<string>, addresses: readonly string[]): number {
  keepOnly(recent, addresses)
  for (const address of addresses) recent.add(address)
  const [eldest = ''] = recent
  recent.delete(eldest)
  recent.add(eldest)
  return addresses.indexOf(eldest)
}

function keepOnly(
  known: { keys(): Iterable<string>; delete(address: string): unknown },
  addresses: readonly string[],
): void {
  const wanted = new Set(addresses)
  for (const address of [...known.keys()]) if (!wanted.has(address)) known.delete(address)
}
