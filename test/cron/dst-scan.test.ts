import { describe, expect, it } from 'vitest'
import { hourMs, minuteMs } from '../../src/time/civil.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { CronOracle, quartzWall, readWall, type WallRow } from '../support/cron-oracle.ts'
import {
  allZoneNames,
  fromYear,
  type SharedTransition,
  sharedTransitions,
  untilYear,
} from '../support/transitions.ts'

/** Compared are the fires this far round a transition: a day and two hours, so that every daily time comes by. */
const aroundMs = 26 * hourMs
/** The wall begins earlier, so that an overlap near the beginning is known. */
const leadMs = 4 * hourMs

/** Minutes before and after the jump at which daily expressions are put, seen from both sides of it. */
const dailyOffsets = [-61, -60, -30, -15, -1, 0, 1, 15, 30, 60, 61, 120]

const rhythmTexts = [
  '0 * * * * ?',
  '0 0 * * * ?',
  '0 30 * * * ?',
  '0 0/7 * * * ?',
  '0 0/15 * * * ?',
  '0 0 0/2 * * ?',
  '0 10/25 22-3 * * ?',
  '0 45 0-3 * * ?',
]

/** `M H * * *` at each of the offsets, and all of them in one list. */
function dailyTexts(transition: SharedTransition): readonly string[] {
  const times = new Map<number, string>()
  for (const offsetMs of [transition.offsetBeforeMs, transition.offsetAfterMs]) {
    for (const minutes of dailyOffsets) {
      const local = new Date(transition.atMs + offsetMs + minutes * minuteMs)
      const minuteOfDay = local.getUTCHours() * 60 + local.getUTCMinutes()
      times.set(minuteOfDay, `0 ${local.getUTCMinutes()} ${local.getUTCHours()} * * ?`)
    }
  }
  return [...times.values(), '0 0,30 0,1,2,3,22,23 * * ?']
}

interface Defect {
  readonly zone: string
  readonly transition: string
  readonly expression: string
  readonly dst: string
  readonly missing: readonly string[]
  readonly extra: readonly string[]
}

/** Fires that the oracle has and the code has not, and the other way round; a fire twice is one too many. */
function compare(found: readonly number[], expected: readonly number[]): Pick<Defect, 'missing' | 'extra'> {
  const iso = (fireMs: number): string => new Date(fireMs).toISOString()
  const wanted = new Set(expected)
  const seen = new Set<number>()
  const extra = found.filter((fireMs) => {
    const isAgain = seen.has(fireMs)
    seen.add(fireMs)
    return isAgain || !wanted.has(fireMs)
  })
  return { missing: expected.filter((fireMs) => !seen.has(fireMs)).map(iso), extra: extra.map(iso) }
}

/** The fires round a transition, walking forward; none when walking back finds others. */
function firesRound(cron: CronExpression, transition: SharedTransition): number[] {
  const untilMs = transition.atMs + aroundMs
  const fires: number[] = []
  let nextMs = cron.nextTimeMs(transition.atMs - aroundMs - 1)
  while (nextMs !== null && nextMs < untilMs) {
    fires.push(nextMs)
    nextMs = cron.nextTimeMs(nextMs)
  }
  let previousMs = cron.previousTimeMs(untilMs)
  for (let index = fires.length - 1; index >= 0; index--) {
    if (previousMs === null || previousMs !== fires[index]) return []
    previousMs = cron.previousTimeMs(previousMs)
  }
  return fires
}

function scan(transition: SharedTransition, wall: readonly WallRow[], texts: readonly string[]): Defect[] {
  const latest = quartzWall(wall)
  const near = (fireMs: number): boolean => Math.abs(fireMs - transition.atMs) < aroundMs
  return texts.flatMap((expression) => {
    const oracle = new CronOracle(expression)
    const vixie = CronExpression.parse(expression, { timeZone: transition.zoneName })
    const runs = [
      { cron: vixie, expected: oracle.vixieFires(wall, minuteMs) },
      { cron: vixie.withDst('quartz'), expected: oracle.quartzFires(latest) },
    ]
    return runs.flatMap(({ cron, expected }) => {
      const found = firesRound(cron, transition).filter(near)
      const wanted = expected.filter(near)
      if (found.length === wanted.length && found.every((fireMs, index) => fireMs === wanted[index]))
        return []
      const at = new Date(transition.atMs).toISOString()
      const { dst } = cron
      return [{ zone: transition.zoneName, transition: at, expression, dst, ...compare(found, wanted) }]
    })
  })
}

describe(`every transition of every zone from ${fromYear} to ${untilYear - 1}`, () => {
  const transitions = sharedTransitions(fromYear, untilYear, aroundMs + leadMs)

  it('is seen: the zones that share one are scanned together', () => {
    const zones = new Set(transitions.flatMap((transition) => transition.zoneNames))
    const inAll = transitions.reduce((sum, transition) => sum + transition.zoneNames.length, 0)
    expect(zones.size).toBeGreaterThan(150)
    expect(zones.size).toBeLessThanOrEqual(allZoneNames().length)
    expect(inAll).toBeGreaterThan(230 * (untilYear - fromYear))
  })

  it('is crossed without a throw, a double, a hole or a wrong wall time, by daily and rhythmic expressions', () => {
    const defects: Defect[] = []
    for (const transition of transitions) {
      const fromMs = transition.atMs - aroundMs - leadMs
      const wall = readWall(transition.zoneName, fromMs, transition.atMs + aroundMs, minuteMs)
      defects.push(...scan(transition, wall, [...dailyTexts(transition), ...rhythmTexts]))
    }
    expect(defects.slice(0, 20)).toEqual([])
  }, 300_000)
})
