import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cloneJobData,
  copyJobData,
  defaultMaxJobDataBytes,
  emptyJobDataMap,
  type JobDataMap,
  jobDataMaxDepth,
  jobDataMaxValues,
  mergeJobData,
  validateJobData,
} from '../../src/core/job-data-map.ts'

const owner = "job 'DEFAULT.daily'"

function problem(data: unknown, maxBytes?: number): { code?: string; field?: string; message?: string } {
  try {
    copyJobData(owner, data as JobDataMap, maxBytes)
  } catch (error) {
    return error as Error
  }
  return {}
}

const json = fc
  .dictionary(fc.string(), fc.jsonValue())
  .filter((data) => !JSON.stringify(data).includes('"__proto__"'))

describe('copyJobData', () => {
  it('copies plain data, frozen through and through', () => {
    const data = { text: 'a', number: 1.5, no: null, yes: true, list: [1, { deep: [] }], object: { a: {} } }
    const copy = copyJobData(owner, data)
    expect(copy).toEqual(data)
    expect(copy).not.toBe(data)
    const list = copy['list'] as readonly [number, { deep: unknown[] }]
    expect([copy, list, list[1], list[1].deep, copy['object']].every(Object.isFrozen)).toBe(true)
  })

  it('leaves out keys whose value is undefined, as JSON does', () => {
    const copy = copyJobData(owner, { a: undefined, b: { c: undefined, d: 1 }, e: null })
    expect(JSON.stringify(copy)).toBe('{"b":{"d":1},"e":null}')
    expect(Object.keys(copy)).toEqual(['b', 'e'])
  })

  it('makes a zero with a sign one without, as JSON does', () => {
    expect(copyJobData(owner, { a: -0, b: [{ c: -0 }], d: -1 })).toEqual({ a: 0, b: [{ c: 0 }], d: -1 })
  })

  it('takes objects without a prototype and those of another realm', async () => {
    const { runInNewContext } = await import('node:vm')
    const bare = Object.assign(Object.create(null) as object, { a: 1 })
    const foreign: unknown = runInNewContext('({ a: [1, { b: 2 }] })')
    expect(copyJobData(owner, { bare, foreign })).toEqual({ bare: { a: 1 }, foreign: { a: [1, { b: 2 }] } })
  })

  it('is what JSON makes of it (property)', () => {
    fc.assert(
      fc.property(json, (data) => {
        const parsed = JSON.parse(JSON.stringify(data)) as JobDataMap
        expect(copyJobData(owner, parsed)).toEqual(parsed)
        expect(structuredClone(copyJobData(owner, parsed))).toEqual(parsed)
        expect(cloneJobData(copyJobData(owner, parsed))).toEqual(parsed)
      }),
      { seed: 20_261_101 },
    )
  })

  class Money {
    readonly cents = 1
  }
  /** What JSON from outside does with a key `__proto__` when its entries are assigned. */
  const withPrototype = (value: unknown): object =>
    Object.assign({ n: 1 }, Object.fromEntries([['__proto__', value]]))
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = { inner: [cyclic] }

  it.each<[string, unknown, string, RegExp]>([
    ['a function', { run: () => 1 }, 'jobDataMap.run', /a value of type function; pass plain data/],
    ['a symbol', { s: Symbol('x') }, 'jobDataMap.s', /a value of type symbol/],
    ['undefined in a list', { gone: [undefined] }, 'jobDataMap.gone[0]', /type undefined; use null/],
    ['a bigint', { big: 1n }, 'jobDataMap.big', /a value of type bigint; use a string/],
    ['NaN', { n: Number.NaN }, 'jobDataMap.n', /the number NaN, which JSON cannot hold/],
    ['infinity', { n: [Number.NEGATIVE_INFINITY] }, 'jobDataMap.n[0]', /the number -Infinity/],
    [
      'a date',
      { at: { when: new Date(0) } },
      'jobDataMap.at.when',
      /an instance of Date; store its ISO text \(toISOString\(\)\) or its milliseconds/,
    ],
    ['a map', { m: new Map() }, 'jobDataMap.m', /an instance of Map/],
    ['a class instance', { m: new Money() }, 'jobDataMap.m', /an instance of Money; use a plain object/],
    ['a promise', { p: Promise.resolve() }, 'jobDataMap.p', /an instance of Promise/],
    ['a hole in a list', { list: new Array(1) }, 'jobDataMap.list[0]', /undefined/],
    ['a cycle', cyclic, 'jobDataMap.self.inner[0]', /a reference back to itself; break the cycle/],
    ['a symbol as key', { [Symbol('k')]: 1 }, 'jobDataMap', /the key Symbol\(k\)/],
    [
      'a key named __proto__',
      JSON.parse('{"a":{"__proto__":{"admin":true}}}'),
      'jobDataMap.a.__proto__',
      /rename it/,
    ],
    [
      'an object whose key __proto__ was set',
      { a: withPrototype({ admin: true }) },
      'jobDataMap.a.__proto__',
      /'jobDataMap.a.__proto__' holds another object as prototype; use a plain object, and no key named '__proto__'/,
    ],
    [
      'a list as __proto__',
      { a: withPrototype([1]) },
      'jobDataMap.a.__proto__',
      /another object as prototype/,
    ],
    [
      'an instance as __proto__',
      withPrototype(new Money()),
      'jobDataMap.__proto__',
      /another object as prototype/,
    ],
    [
      'a getter that throws',
      {
        get a(): number {
          throw new Error('no')
        },
      },
      'jobDataMap.a',
      /throws when it is read/,
    ],
    ['a revoked proxy', { p: revoked.proxy }, 'jobDataMap.p', /an unreadable class/],
    [
      'a proxy whose keys cannot be listed',
      {
        p: new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no')
            },
          },
        ),
      },
      'jobDataMap.p',
      /throws when it is read/,
    ],
    [
      'a prototype whose constructor throws',
      {
        p: Object.create({
          get constructor(): never {
            throw new Error('no')
          },
        }) as object,
      },
      'jobDataMap.p',
      /an unreadable class/,
    ],
  ])('refuses %s and names the key', (_what, data, field, message) => {
    expect(problem(data)).toMatchObject({
      code: 'ERR_INVALID_JOB_DATA',
      field,
      message: expect.stringMatching(message) as string,
    })
  })

  it('keeps what a getter threw as the cause', () => {
    const cause = new Error('no')
    const data = Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        throw cause
      },
    })
    expect(problem(data)).toMatchObject({ cause })
  })

  it.each([[null], [undefined], ['text'], [[1]], [new Date(0)], [new Map()]])(
    'refuses %s in place of a map',
    (data) => {
      expect(problem(data)).toMatchObject({
        code: 'ERR_INVALID_JOB_DATA',
        field: 'jobDataMap',
        message: expect.stringMatching(/must be a plain object, got/) as string,
      })
    },
  )

  it('reads every property once, so that what was checked is what is kept', () => {
    let reads = 0
    const data = {
      get tricky(): unknown {
        return ++reads === 1 ? 'fine' : () => 'not fine'
      },
    }
    expect(copyJobData(owner, data)).toEqual({ tricky: 'fine' })
    expect(reads).toBe(1)
  })

  it('takes the same object in two places, which is no cycle', () => {
    const shared = { a: 1 }
    expect(copyJobData(owner, { x: shared, y: [shared, shared] })).toEqual({ x: shared, y: [shared, shared] })
  })

  it('bounds depth', () => {
    const nested = (levels: number): object => {
      let value: object = {}
      for (let level = 1; level < levels; level++) value = { in: value }
      return value
    }
    expect(problem(nested(jobDataMaxDepth))).toEqual({})
    expect(problem(nested(jobDataMaxDepth + 1)).message).toMatch(/nested deeper than 100 levels/)
    expect(problem(nested(100_000)).message).toMatch(/nested deeper than 100 levels/)
  })

  it('bounds the values of data that shares its parts over and over', () => {
    let value: unknown = 'leaf'
    for (let level = 0; level < 60; level++) value = [value, value]
    expect(problem({ bomb: value })).toMatchObject({
      code: 'ERR_JOB_DATA_TOO_LARGE',
      message: expect.stringContaining(`more than ${jobDataMaxValues} values`) as string,
    })
  })
})

describe('validateJobData', () => {
  it('measures UTF-8 JSON and names the largest entry', () => {
    const data = { small: 1, grün: 'ü'.repeat(100) }
    const bytes = Buffer.byteLength(JSON.stringify(data))
    expect(() => {
      validateJobData(owner, data, bytes)
    }).not.toThrow()
    expect(() => {
      validateJobData(owner, data, bytes - 1)
    }).toThrow(
      expect.objectContaining({
        code: 'ERR_JOB_DATA_TOO_LARGE',
        message: expect.stringContaining(
          `takes ${bytes} bytes, more than the ${bytes - 1} allowed; its largest entry is 'grün'`,
        ) as string,
      }),
    )
  })

  it('measures as JSON does (property)', () => {
    fc.assert(
      fc.property(json, (data) => {
        const parsed = JSON.parse(JSON.stringify(data)) as JobDataMap
        const bytes = Buffer.byteLength(JSON.stringify(parsed))
        expect(() => {
          validateJobData(owner, parsed, bytes)
        }).not.toThrow()
        expect(() => {
          validateJobData(owner, parsed, bytes - 1)
        }).toThrow(/bytes, more than/)
      }),
      { seed: 20_261_101 },
    )
  })

  it('allows one mebibyte by default', () => {
    const overhead = Buffer.byteLength(JSON.stringify({ text: '' }))
    const text = 'x'.repeat(defaultMaxJobDataBytes - overhead)
    expect(() => {
      validateJobData(owner, { text })
    }).not.toThrow()
    expect(() => {
      validateJobData(owner, { text: `${text}x` })
    }).toThrow(/takes 1048577 bytes/)
    expect(() => {
      validateJobData(owner, emptyJobDataMap)
    }).not.toThrow()
  })
})

describe('mergeJobData', () => {
  it('lays the trigger’s entries over the job’s', () => {
    expect(mergeJobData({ a: 1, b: { c: 2, d: 3 } }, { b: { c: 4 }, e: 5 })).toEqual({
      a: 1,
      b: { c: 4 },
      e: 5,
    })
  })

  it('shares nothing with either map', () => {
    const job = { list: [{ n: 1 }] }
    const trigger = { object: { n: [1] } }
    const merged = mergeJobData(job, trigger) as { list: { n: number }[]; object: { n: number[] } }
    merged.list[0] = { n: 2 }
    merged.object.n.push(2)
    merged['list'].push({ n: 3 })
    expect([job, trigger]).toEqual([{ list: [{ n: 1 }] }, { object: { n: [1] } }])
  })

  it('hides the scheduler’s own notes', () => {
    expect(mergeJobData({ QRTZ_A: 1, a: 2 }, { QRTZ_B: 3, b: 4 })).toEqual({ a: 2, b: 4 })
    expect(mergeJobData({ QRTZ_A: 1 }, emptyJobDataMap)).toEqual({})
  })

  it('gives a new, writable map even when both are empty', () => {
    const merged = mergeJobData(emptyJobDataMap, emptyJobDataMap)
    merged['a'] = 1
    expect(emptyJobDataMap).toEqual({})
    const copy = cloneJobData(emptyJobDataMap)
    copy['a'] = 1
    expect(emptyJobDataMap).toEqual({})
  })

  it('keeps a stored key named __proto__ an entry and pollutes nothing', () => {
    const stored = JSON.parse(
      '{"__proto__":{"admin":true},"nested":{"__proto__":{"admin":true}}}',
    ) as JobDataMap
    for (const data of [mergeJobData(stored, { a: 1 }), cloneJobData(stored)]) {
      expect(Object.getPrototypeOf(data)).toBe(Object.prototype)
      expect(data['admin']).toBeUndefined()
      expect(Object.getPrototypeOf(data['nested'])).toBe(Object.prototype)
      expect(JSON.stringify(data['nested'])).toBe('{"__proto__":{"admin":true}}')
    }
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })
})
