import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { asJavaMeans, differenceInJava } from '../../src/triggers/cron/java-reading.ts'

/** Days of the month, months and days of the week of which Java Quartz 2.3.2 gave other times, or none. */
const readOtherwise: readonly (readonly [fields: string, problem: string])[] = [
  ['1,15W,L * ?', "cannot read 'L' in a list of days, here '1,15W,L'"],
  ['L,15 * ?', "cannot read 'L'"],
  ['15,L-3 * ?', "cannot read 'L'"],
  ['LW,15 * ?', "cannot read 'L'"],
  ['L,L * ?', "cannot read 'L'"],
  ['*,L * ?', "cannot read 'L'"],
  ['10W,20W * ?', "takes the first day of a list with 'W'"],
  ['1-5,15W * ?', 'takes the first day'],
  ['15W,* * ?', 'takes the first day'],
  ['L-28W * ?', 'searches without end'],
  ['L-029W * ?', 'searches without end'],
  ['L-30W 1 ?', 'searches without end'],
  ['31W * ?', "also fires for a 'W'"],
  ['030W 2 ?', "also fires for a 'W'"],
  ['29W 2,3 ?', "also fires for a 'W'"],
  ['1 JAN/2 ?', 'ignores the step'],
  ['1 January-December/2 ?', 'ignores the step'],
  ['? * MON-FRI/2', 'ignores the step'],
  ['1 JAN-3 ?', 'cannot read a range'],
  ['1 1-MAR/2 ?', 'cannot read a range'],
  ['? * 2-Friday', 'cannot read a range'],
  ['1 JANUARY-MAR ?', 'reads three letters'],
  ['? * Monday-Friday', 'reads three letters'],
  ['? * FRIDAY#3', 'reads three letters'],
  ['? * SUNDAYL 2030', 'reads three letters'],
]

/** Those of which it gave the same times. */
const readAlike = [
  ...[
    'L * ?',
    'LW * ?',
    'L-3 * ?',
    'L-30 * ?',
    'L-27W * ?',
    '15W * ?',
    '28W * ?',
    '1,15,31 * ?',
    '28-3/2 * ?',
  ],
  ...['1 JANUARY ?', '1 JAN-MARCH ?', '1 NOV-FEB ?', '1 3,JAN ?', '1 1-12/2 ?', '1 */5 ?', '1 JAN-MAR,6 ?'],
  ...[
    '? * MONDAY',
    '? * MON-FRIDAY',
    '? * FRI-MON',
    '? * 6-2/2',
    '? * FRIL',
    '? * SUN#1',
    '? * MONDAY,WEDNESDAY',
  ],
  ...['? * L', '? * 6#5', '? * 7L 2030-2040/3'],
]

describe('differenceInJava', () => {
  it.each(readOtherwise)('says what Java makes of %s', (fields, problem) => {
    const difference = differenceInJava(`0 0 12 ${fields}`)
    expect(difference).toContain(problem)
    expect(difference).toMatch(/\. (Use|Count|Write) /)
  })

  it.each(readAlike)('says nothing of %s', (fields) => {
    expect(differenceInJava(`0 0 12 ${fields}`)).toBeNull()
  })

  it('says nothing of what Java computed as this package does, but for days that short months do not have', () => {
    const rows = readFileSync(new URL('../vectors/cron.jsonl', import.meta.url), 'utf8')
      .trimEnd()
      .split('\n')
    const written = rows.map((row) => asJavaMeans((JSON.parse(row) as { readonly expr: string }).expr))
    const unlike = new Set(written.filter((expression) => differenceInJava(expression) !== null))
    expect([...unlike].filter((expression) => !/ (29|30|31)W /.test(expression))).toEqual([])
    expect(unlike.size).toBeLessThan(new Set(written).size / 10)
  })
})
