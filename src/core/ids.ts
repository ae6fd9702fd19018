import { randomInt, randomUUID } from 'node:crypto'
import { type ArgumentCheck, checkMethods } from './arguments.ts'

/** The one source of randomness in the library. Simulations put a seeded one in its place. */
export interface IdGenerator {
  /** A unique name: for a trigger or job without one, or an instance id. */
  uniqueName(): string
  /** A number in [0, 1), for jitter. */
  random(): number
}

export const checkIds: ArgumentCheck = checkMethods('an IdGenerator', ['uniqueName', 'random'])

export const systemIds: IdGenerator = {
  uniqueName: () => randomUUID(),
  // The loop asks for one each turn. Node keeps integers in stock; fresh bytes take some 40 times as long.
  random: () => randomInt(2 ** 32) / 2 ** 32,
}

/** A repeatable generator (mulberry32) for tests and simulations. */
export function seededIds(seed: number): IdGenerator {
  let state = seed >>> 0
  let names = 0
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    uniqueName: () => `id-${String(seed)}-${String(++names)}`,
    random,
  }
}
