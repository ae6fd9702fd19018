import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { fullTextOf, textOf } from '../../src/core/thrown-value.ts'

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code })

it.each<[string, unknown, string]>([
  ['a message that its cause repeats', new Error('a: b', { cause: new Error('b') }), 'a: b'],
  ['no error', 'text', 'text'],
  [
    'a cause with a code',
    new TypeError('fetch failed', { cause: coded('ECONNREFUSED', 'connect 127.0.0.1:1') }),
    'fetch failed; cause: ECONNREFUSED: connect 127.0.0.1:1',
  ],
  [
    'a cause with nothing but a code',
    new TypeError('fetch failed', { cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) }),
    'fetch failed; cause: ECONNREFUSED',
  ],
  [
    'many errors at once, with their causes',
    new AggregateError([new Error('one', { cause: new Error('two') }), new Error('three')], 'All'),
    'All; cause: one; cause: three; cause: two',
  ],
])('the text of %s', (_what, thrown, text) => {
  expect(fullTextOf(thrown)).toBe(text)
})

it('ends where causes form a circle, are very many, or cannot be read', () => {
  const circle = new Error('1')
  circle.cause = new Error('2', { cause: circle })
  expect(fullTextOf(circle)).toBe('1; cause: 2')
  const many = new AggregateError(
    Array.from({ length: 200_000 }, (_, index) => new Error(`e${index}`)),
    'All failed',
  )
  expect(fullTextOf(many)).toBe('All failed; cause: e0; cause: e1; cause: e2; cause: e3; cause: e4')
  const unreadable = Object.defineProperty(new Error('a'), 'cause', {
    get() {
      throw new Error('no')
    },
  })
  expect(fullTextOf(unreadable)).toBe('a')
})

describe('the text of an object that is no error', () => {
  it.each<[string, unknown, string]>([
    [
      'its fields',
      { status: 503, body: 'x', ok: false, at: null },
      '{"status":503,"body":"x","ok":false,"at":null}',
    ],
    ['those of another realm', runInNewContext('({ status: 503 })'), '{"status":503}'],
    ['those within', { error: { code: 'E1', ids: [1, 2n] } }, '{"error":{"code":"E1","ids":[1,2]}}'],
    ['a list', ['a', { b: 1 }], '["a",{"b":1}]'],
    ['an error within', { error: new Error('a full disk') }, '{"error":"a full disk"}'],
    ['no functions and nothing undefined', { a: 1, then: () => 1, b: undefined, c: Symbol('c') }, '{"a":1}'],
    ['the kind where nothing can be shown', { then: () => 1 }, '[object Object]'],
    ['the kind of what keeps its content elsewhere', { map: new Map([[1, 2]]) }, '{"map":"[object Map]"}'],
    [
      'secrets hidden by name',
      { apiKey: 'x', db: { password: 'y' } },
      '{"apiKey":"***","db":{"password":"***"}}',
    ],
    [
      'secrets hidden in addresses',
      { at: 'https://me:pw@host/a?token=b' },
      '{"at":"https://host/a?token=***"}',
    ],
    ['no deeper than some', { a: { b: { c: { d: { e: 1 } } } } }, '{"a":{"b":{"c":{"d":"…"}}}}'],
  ])('has %s', (_what, thrown, text) => {
    expect(textOf(thrown)).toBe(text)
    expect(fullTextOf(thrown)).toContain(text)
  })

  it('is bounded, however large the object is', () => {
    const many = textOf(
      Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, index])),
    )
    expect(many).toMatch(/^{"key0":0,.*…$/)
    expect(many.length).toBeLessThanOrEqual(500)
    const long = textOf({ text: 'x'.repeat(1_000_000), after: 1 })
    expect(long).toMatch(/^{"text":"x+…$/)
    expect(long.length).toBeLessThanOrEqual(500)
  })

  it('reads only the first entries of a list, and says that there are more', () => {
    let looks = 0
    const list = new Proxy(new Array<number>(100_000).fill(7), {
      getOwnPropertyDescriptor: (target, key) => {
        looks++
        return Reflect.getOwnPropertyDescriptor(target, key)
      },
    })
    expect(textOf({ list, status: 503 })).toMatch(/^{"list":\[(7,)+…],…}$/)
    expect(looks).toBeLessThan(100)
    expect(textOf(Array.from({ length: 50 }, () => 1))).not.toContain('…')
    expect(textOf(Array.from({ length: 30 }, () => ({ a: 1 })))).not.toContain('[object')
  })

  it('calls no code of the object', () => {
    const called: string[] = []
    const thrown = {
      status: 503,
      get body() {
        called.push('body')
        return 'x'
      },
      toJSON: () => called.push('toJSON'),
      toString: () => called.push('toString'),
    }
    expect(textOf(thrown)).toBe('{"status":503}')
    expect(called).toEqual([])
  })

  it('leaves out no other field for one that throws', () => {
    const trap = (): never => {
      throw new Error('trapped')
    }
    const thrown = {
      inner: new Proxy({}, { ownKeys: trap, get: trap, getOwnPropertyDescriptor: trap }),
      status: 503,
    }
    expect(textOf(thrown)).toBe('{"inner":"unreadable","status":503}')
    const circle: Record<string, unknown> = { status: 503 }
    circle['list'] = [circle]
    expect(textOf(circle)).toBe('{"status":503,"list":["circular"]}')
  })
})
