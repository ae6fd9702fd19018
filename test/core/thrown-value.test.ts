import { expect, it } from 'vitest'
import { fullTextOf } from '../../src/core/thrown-value.ts'

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
