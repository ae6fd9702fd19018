import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyJobDataMap } from '../../../../../src/core/job-data-map.ts'
import { JobKey } from '../../../../../src/core/key.ts'
import { jobDataText, readJobData } from '../../../../../src/jobstore/sql/tables/encoding/job-data-text.ts'
import {
  readProperties,
  writeProperties,
} from '../../../../../src/jobstore/sql/tables/encoding/properties-text.ts'
import { propertySeed } from '../../../../support/trigger-arbitraries.ts'

const seed = propertySeed
const owner = { kind: 'Job', identity: new JobKey('j') }
const texts = fc.string({
  unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...Array.from(' \t\n\r\f\\=:#!{é\0'))),
})
const keys = texts.filter((key) => key !== '__proto__')

describe(`job data as text (seed ${seed})`, () => {
  it('comes back from JSON', () => {
    const values = fc.json().map((text): unknown => JSON.parse(text))
    fc.assert(
      fc.property(fc.dictionary(keys, values), (data) => {
        const text = jobDataText('json', owner, data)
        expect(readJobData(text === null ? null : Buffer.from(text))).toEqual(data)
      }),
      { seed, numRuns: 500 },
    )
  })

  it('comes back from properties, which are ASCII', () => {
    fc.assert(
      fc.property(fc.dictionary(keys, texts), (data) => {
        const text = jobDataText('properties', owner, data)
        expect(text ?? '').toMatch(/^[\n -~]*$/)
        expect(readJobData(text === null ? null : Buffer.from(text))).toEqual(data)
      }),
      { seed, numRuns: 1000 },
    )
  })

  it('is nothing when the map is empty, and nothing reads as the one empty map', () => {
    expect(jobDataText('json', owner, {})).toBeNull()
    expect(jobDataText('properties', owner, emptyJobDataMap)).toBeNull()
    for (const text of ['', '{}', ' {}', '#\n#Fri Nov 20 17:00:24 UTC 2026\n']) {
      expect(readJobData(Buffer.from(text))).toBe(emptyJobDataMap)
    }
    expect(readJobData(null)).toBe(emptyJobDataMap)
  })

  it.each([1, null, true, { a: 'b' }, ['a']])(
    'as properties refuses the value %o, naming its key',
    (value) => {
      expect(() => jobDataText('properties', owner, { fine: 'x', odd: value })).toThrow(
        expect.objectContaining({
          name: 'InvalidArgumentError',
          code: 'ERR_INVALID_JOB_DATA',
          field: 'jobDataMap.odd',
          message: expect.stringContaining("'odd'") as string,
        }),
      )
    },
  )

  it('that Java serialized is refused with the remedy', () => {
    expect(() => readJobData(Buffer.from('aced0005737200', 'hex'))).toThrow(/useProperties=true/)
  })
})

describe('properties text', () => {
  it('is written as Java writes it', () => {
    expect(
      writeProperties([
        ['a', '1'],
        ['b', 'é=x'],
        ['k k', ' lead'],
        ['t', 'a\tb\nc'],
        ['!#', '\\'],
      ]),
    ).toBe('a=1\nb=\\u00E9\\=x\nk\\ k=\\ lead\nt=a\\tb\\nc\n\\!\\#=\\\\\n')
  })

  it.each<[string, Record<string, string>]>([
    ['#c\n!c\n \t# c\n\na=1', { a: '1' }],
    ['a=1\r\nb=2\rc=3', { a: '1', b: '2', c: '3' }],
    ['b : v', { b: 'v' }],
    ['a b c', { a: 'b c' }],
    ['a\t=\f b ', { a: 'b ' }],
    ['a==b', { a: '=b' }],
    ['a', { a: '' }],
    ['=v', { '': 'v' }],
    ['k=a,\\\n   b,\\\r\n   c', { k: 'a,b,c' }],
    ['k=a\\\\\nb=c', { k: 'a\\', b: 'c' }],
    ['k=a\\\n#b', { k: 'a#b' }],
    ['k=a\\', { k: 'a' }],
    ['a\\:b\\ c=\\u00e9\\z', { 'a:b c': 'éz' }],
    ['a=1\na=2', { a: '2' }],
  ])('is read as Java reads it: %j', (text, entries) => {
    expect(readProperties(text)).toEqual(entries)
  })

  it('of Latin-1 bytes is read', () => {
    expect(readJobData(Buffer.from([0x61, 0x3d, 0xe9]))).toEqual({ a: 'é' })
  })

  it('with an escape that is cut off is refused', () => {
    expect(() => readJobData(Buffer.from('a=\\u12'))).toThrow(
      expect.objectContaining({ code: 'ERR_BROKEN_ROW' }),
    )
  })
})
