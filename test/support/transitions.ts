import { TimeZone, type ZoneTransition } from '../../src/time/zone.ts'

export const fromYear = 2020
/** The rules of most zones repeat each year; all the years of zone data that go on are for the CI. */
export const untilYear: number = (process.env['QUARTZ_TS_SEED_FACTOR'] ?? '1') === '1' ? 2030 : 2041

/** Every zone that this version of Node knows by name. */
export function allZoneNames(): readonly string[] {
  return Intl.supportedValuesOf('timeZone')
}

/** The changes of offset of a zone from the beginning of one year to the beginning of another. */
export function transitionsOf(
  zoneName: string,
  fromYear: number,
  untilYear: number,
): readonly ZoneTransition[] {
  const zone = TimeZone.of(zoneName)
  const untilMs = Date.UTC(untilYear, 0, 1)
  const found: ZoneTransition[] = []
  let next = zone.nextTransition(Date.UTC(fromYear, 0, 1) - 1)
  while (next !== null && next.atMs < untilMs) {
    found.push(next)
    next = zone.nextTransition(next.atMs)
  }
  return found
}

/** A change of offset and one of the zones that has it: nothing round it depends on the zone's name. */
export interface SharedTransition extends ZoneTransition {
  readonly zoneName: string
  /** The zones that change in the same way at the same instant. */
  readonly zoneNames: readonly string[]
}

/**
 * Every transition of every zone, those that are equal in instant and offsets taken together. The neighbours within
 * `nearMs` must be equal as well, so that what is computed round a transition is the same for all its zones.
 */
export function sharedTransitions(
  fromYear: number,
  untilYear: number,
  nearMs: number,
): readonly SharedTransition[] {
  const byShape = new Map<string, SharedTransition & { zoneNames: string[] }>()
  for (const zoneName of allZoneNames()) {
    const transitions = transitionsOf(zoneName, fromYear, untilYear)
    for (const transition of transitions) {
      const near = transitions.filter((other) => Math.abs(other.atMs - transition.atMs) <= nearMs)
      const shape = JSON.stringify([transition, near])
      const known = byShape.get(shape)
      if (known === undefined) byShape.set(shape, { ...transition, zoneName, zoneNames: [zoneName] })
      else known.zoneNames.push(zoneName)
    }
  }
  return [...byShape.values()]
}
