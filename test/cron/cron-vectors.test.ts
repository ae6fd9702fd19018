import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CronExpressionError } from '../../src/core/errors.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { hasNewerZoneRules } from '../support/vectors/zone-rules.ts'

interface CronRow {
  readonly expr: string
  readonly zone: string
  readonly after: string
  readonly next: readonly number[]
  readonly end?: boolean
  readonly more?: boolean
}

function readRows(name: string): readonly unknown[] {
  const text = readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))
}

/** The fires of a row; one that can never fire is refused when it is parsed, which is a clear way to have none. */
function firesOf(row: CronRow): readonly number[] {
  let cron: CronExpression
  try {
    cron = CronExpression.parse(row.expr, { timeZone: row.zone, dst: 'quartz' })
  } catch (error) {
    if (error instanceof CronExpressionError && error.message.includes('can never fire')) return []
    throw error
  }
  const fires: number[] = []
  let nextMs = cron.nextTimeMs(Date.parse(row.after))
  while (nextMs !== null && fires.length <= row.next.length) {
    fires.push(nextMs)
    nextMs = cron.nextTimeMs(nextMs)
  }
  return fires
}

describe('what Java Quartz computes', () => {
  const recorded = readRows('cron.jsonl') as readonly CronRow[]
  const rows = recorded.filter((row) => !hasNewerZoneRules(JSON.stringify(row)))

  it(`holds under the quartz policy for all ${recorded.length} rows of next times`, () => {
    const wrong = rows.filter((row) => {
      const fires = firesOf(row)
      const expected = row.end === true ? fires : fires.slice(0, row.next.length)
      return JSON.stringify(expected) !== JSON.stringify(row.next)
    })
    expect(wrong).toEqual([])
    expect(recorded.length).toBe(4000)
  })

  it('holds backwards: the time before each fire is the fire before it', () => {
    for (const row of rows) {
      if (row.next.length < 2) continue
      const cron = CronExpression.parse(row.expr, { timeZone: row.zone, dst: 'quartz' })
      const back: number[] = []
      let previousMs: number | null = row.next.at(-1) ?? null
      while (previousMs !== null && back.length < row.next.length) {
        back.unshift(previousMs)
        previousMs = cron.previousTimeMs(previousMs)
      }
      expect(back, JSON.stringify(row)).toEqual(row.next)
    }
  })
})

describe('what Java Quartz rejects', () => {
  const rows = readRows('cron-reject.jsonl') as readonly { readonly expr: string }[]

  it.each(rows)('is refused here, with field and position: $expr', ({ expr }) => {
    expect(CronExpression.isValid(expr)).toBe(false)
    expect.assertions(4)
    try {
      CronExpression.parse(expr)
    } catch (error) {
      expect(error).toBeInstanceOf(CronExpressionError)
      if (!(error instanceof CronExpressionError)) return
      expect(error.field).toMatch(/^(second|minute|hour|dayOfMonth|month|dayOfWeek|year)$/)
      expect(error.position >= 0 && error.position <= expr.length).toBe(true)
    }
  })
})
