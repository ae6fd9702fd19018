import { describe, expect, test } from 'vitest'
import { boundedJson } from '../../src/core/bounded-json.ts'
import { fieldsAndMessage } from '../../src/core/job-log.ts'
import { shortened } from '../../src/core/text-beginning.ts'

describe('JSON for people', () => {
  test.each([
    [null, 'null'],
    [undefined, 'null'],
    [Number.NaN, 'null'],
    [12n, '"12"'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [new Error('broke'), '"broke"'],
    [[1, undefined, 'a"b'], '[1,null,"a\\"b"]'],
    [{ a: { b: [true] }, f: () => 1, u: undefined, z: null }, '{"a":{"b":[true]},"z":null}'],
    [
      { password: 'x', deep: { apiKey: 1, token: null } },
      '{"password":"***","deep":{"apiKey":"***","token":null}}',
    ],
    ['postgres://u:secret@host/db', '"postgres://host/db"'],
  ])('%s', (value, text) => {
    expect(boundedJson(value, 1000)).toBe(text)
  })

  test('survives cycles, depth and values that throw', () => {
    const cycle: Record<string, unknown> = { a: 1 }
    cycle['self'] = cycle
    expect(boundedJson(cycle, 1000)).toBe('{"a":1,"self":"circular"}')
    let deep: unknown = 'bottom'
    for (let depth = 0; depth < 100; depth++) deep = { deep }
    expect(boundedJson(deep, 1000)).toContain('"…"')
    const broken = {
      get bad(): never {
        throw new Error('no')
      },
      good: 1,
    }
    expect(boundedJson(broken, 1000)).toBe('{"bad":"unreadable: no","good":1}')
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(boundedJson({ proxy }, 1000)).toContain('unreadable')
  })

  test('is cut to its length, and says so', () => {
    expect(boundedJson('x'.repeat(50), 20)).toBe(`"${'x'.repeat(18)}…`)
    expect(boundedJson({ list: Array.from({ length: 1_000_000 }, (_, index) => index) }, 30)).toBe(
      '{"list":[0,1,2,3,4,5,6,7,8,9,…',
    )
    expect(shortened('abc', 3)).toBe('abc')
    expect(shortened('abcd', 3)).toBe('ab…')
    // The user part of the address goes beyond what is shown.
    expect(boundedJson(`postgres://user:${'p'.repeat(100)}@host/db`, 40)).toBe('"postgres://host/db"')
  })

  // Entry by entry, these would take all of the memory.
  test.each([
    ['Uint8Array', (length: number) => new Uint8Array(length)],
    ['Uint8Array', (length: number) => Buffer.alloc(length)],
    ['DataView', (length: number) => new DataView(new ArrayBuffer(length))],
    ['ArrayBuffer', (length: number) => new ArrayBuffer(length)],
    ['SharedArrayBuffer', (length: number) => new SharedArrayBuffer(length)],
  ])('says how many bytes a %s has', (kind, bytesOf) => {
    const body = bytesOf(100_000_000)
    expect(boundedJson({ body }, 1000)).toBe(`{"body":"${kind} of 100000000 bytes"}`)
  })

  test('bytes that are logged in place of fields are one field', () => {
    const bytes = new Uint8Array(2)
    expect(fieldsAndMessage(bytes, 'received')).toEqual([{ bytes }, 'received'])
  })

  test('fields that come after the text are fields, as is an error', () => {
    const error = new Error('no')
    expect(fieldsAndMessage('sent', { to: 'a' })).toEqual([{ to: 'a' }, 'sent'])
    expect(fieldsAndMessage('failed', error)).toEqual([{ err: error }, 'failed'])
    expect(fieldsAndMessage('one', 'two')).toEqual([{}, 'one two'])
    expect(fieldsAndMessage(null, { to: 'a' })).toEqual([{ to: 'a' }, ''])
  })

  test('reads a text that is an object as a text', () => {
    expect(boundedJson(Object('x'.repeat(10_000_000)), 10)).toBe('"xxxxxxxx…')
  })
})
