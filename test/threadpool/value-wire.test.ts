import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidArgumentError, JobExecutionError, SchedulerError } from '../../src/core/errors.ts'
import {
  decodeFields,
  decodeValue,
  encodeFields,
  encodeValue,
  errorValuesMax,
  type ValueWire,
} from '../../src/threadpool/value-wire.ts'

/** What arrives on the other side of a thread. */
function cross(value: unknown): unknown {
  return decodeValue(structuredClone(encodeValue(value)))
}

/** A value on the wire, and every value within it. */
function valuesIn(wire: ValueWire): ValueWire[] {
  const within = (): readonly ValueWire[] => {
    switch (wire.kind) {
      case 'value':
        return []
      case 'list':
        return wire.items
      case 'record':
        return wire.fields.map(([, value]) => value)
      case 'error': {
        const { cause, errors, fields } = wire.error
        return [...(cause === null ? [] : [cause]), ...errors, ...fields.map(([, value]) => value)]
      }
    }
  }
  return [wire, ...within().flatMap(valuesIn)]
}

describe('values on the wire', () => {
  it('arrive as they are (property)', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withBigInt: true }), (value) => {
        expect(cross(value)).toEqual(structuredClone(value))
      }),
      { seed: 20_261_101 },
    )
  })

  it('arrive as a description when they cannot be cloned', () => {
    class Connection {
      readonly socket = (): void => {}
    }
    expect(cross(() => 1)).toBe('[a function]')
    expect(cross(Symbol('x'))).toBe('[a symbol]')
    expect(cross(Promise.resolve())).toBe('[an instance of Promise]')
    expect(cross(new Connection())).toBe('[an instance of Connection]')
    expect(cross(Object.assign(Object.create(null) as object, { f: cross }))).toBe('[an object]')
  })

  it('survive objects that throw whatever is asked of them', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
        getPrototypeOf: () => {
          throw new Error('no')
        },
      },
    )
    expect(cross(hostile)).toBe('[an object]')
    expect(decodeFields(structuredClone(encodeFields({ hostile, fine: 1 })))).toEqual({
      hostile: '[an object]',
      fine: 1,
    })
  })
})

describe('errors on the wire', () => {
  it.each([
    new Error('a'),
    new TypeError('b'),
    new RangeError('c'),
    new SyntaxError('d'),
    new ReferenceError('e'),
    new EvalError('f'),
    new URIError('g'),
  ])('keep class, name, message and stack: %s', (error) => {
    const arrived = cross(error) as Error
    expect(arrived).toBeInstanceOf(error.constructor)
    expect([arrived.name, arrived.message, arrived.stack]).toEqual([error.name, error.message, error.stack])
    expect(Object.keys(arrived)).toEqual([])
  })

  it('keep own fields, with errors among them', () => {
    const error = Object.assign(new Error('a'), {
      code: 'E',
      inner: new TypeError('b'),
      list: [1],
      at: new Date(5),
    })
    const arrived = cross(error) as typeof error
    expect(Object.fromEntries(Object.entries(arrived))).toEqual({
      code: 'E',
      inner: new TypeError('b'),
      list: [1],
      at: new Date(5),
    })
    expect(arrived.inner).toBeInstanceOf(TypeError)
  })

  it('keep the name that a class gives, and the code of a DOMException', () => {
    class QuotaError extends Error {
      override readonly name = 'QuotaError'
    }
    expect(cross(new QuotaError('full'))).toMatchObject({ name: 'QuotaError', message: 'full' })
    const aborted = cross(new DOMException('stop', 'AbortError')) as Error
    expect(aborted).toMatchObject({ name: 'AbortError', message: 'stop', code: 20 })
    expect(String(aborted)).toBe('AbortError: stop')
  })

  it('keep causes, aggregates and circles, to a depth', () => {
    const error = new AggregateError([new TypeError('one'), 'two'], 'many', { cause: new Error('why') })
    const arrived = cross(error) as AggregateError
    expect(arrived).toBeInstanceOf(AggregateError)
    expect(arrived.errors).toEqual([new TypeError('one'), 'two'])
    expect(arrived.cause).toEqual(new Error('why'))
    const circle = new Error('round')
    circle.cause = circle
    let link: unknown = cross(circle)
    for (let depth = 1; depth < 8; depth++) link = (link as Error).cause
    expect((link as Error).cause).toBe('[an error nested too deep]')
    const nothing = new Error('a', { cause: null })
    expect((cross(nothing) as Error).cause).toBeNull()
  })

  it('keep what Ajv, Yup and Mongoose report as errors', () => {
    class AjvError extends Error {
      readonly ajv = true
      readonly errors = [
        { instancePath: '/age', message: 'must be number', parentSchema: { validate: () => true } },
      ]
    }
    class YupError extends Error {
      override readonly name = 'ValidationError'
      readonly errors: string[]
      readonly inner: YupError[]
      readonly path: string
      constructor(path: string, errors: string[], inner: YupError[] = []) {
        super(errors[0])
        this.path = path
        this.errors = errors
        this.inner = inner
      }
    }
    class MongooseError extends Error {
      readonly errors = { age: Object.assign(new RangeError('too young'), { kind: 'min', path: 'age' }) }
    }
    expect((cross(new AjvError('invalid')) as AjvError).errors).toEqual([
      { instancePath: '/age', message: 'must be number', parentSchema: { validate: '[a function]' } },
    ])
    const inner = [new YupError('name', ['name is required']), new YupError('age', ['age must be a number'])]
    const yup = cross(new YupError('', ['2 errors occurred'], inner)) as YupError
    expect(yup.errors).toEqual(['2 errors occurred'])
    expect(yup.inner.map(({ name, path, errors }) => [name, path, errors])).toEqual([
      ['ValidationError', 'name', ['name is required']],
      ['ValidationError', 'age', ['age must be a number']],
    ])
    const { errors } = cross(new MongooseError('invalid')) as MongooseError
    expect(errors.age).toBeInstanceOf(RangeError)
    expect(errors.age).toMatchObject({ message: 'too young', kind: 'min', path: 'age' })
  })

  const leftOut = `[left out: an error holds more than ${errorValuesMax} values]`

  it.each([12, 2000])('are bounded when they hold each other: %i errors', (count) => {
    const errors: Error[] = Array.from({ length: count }, (_, index) => new Error(`error ${index}`))
    for (const error of errors) Object.assign(error, { errors, code: 'E' })
    const values = valuesIn(encodeValue(new AggregateError(errors, 'all', { cause: errors[0] })))
    const encoded = values.filter(({ kind }) => kind === 'error').length
    expect(encoded).toBeGreaterThan(Math.min(count, errorValuesMax / 2))
    expect(encoded).toBeLessThanOrEqual(errorValuesMax + 1)
    expect(values.length).toBeLessThan(5 * errorValuesMax)
    expect(values).toContainEqual({ kind: 'value', value: leftOut })
  })

  it('keep what is near the top when they hold too much', () => {
    const lot = Array.from({ length: 2 * errorValuesMax }, (_, index) =>
      Object.assign(new Error(String(index)), { lot: [new Error('deep')] }),
    )
    const cause = Object.assign(new Error('why'), { code: 'E_WHY' })
    const error = Object.assign(new Error('a', { cause }), { lot, code: 'E', more: { a: [1] } })
    const arrived = cross(error) as typeof error
    expect(arrived).toMatchObject({ code: 'E', more: { a: [1] }, cause: { message: 'why', code: 'E_WHY' } })
    expect(arrived.lot.at(0)).toMatchObject({ message: '0', lot: leftOut })
    expect(arrived.lot.at(-1)).toBe(leftOut)
    expect(arrived.lot.length).toBeGreaterThan(errorValuesMax - 10)
  })

  it('are errors of this library again, with their code and flags', () => {
    const steering = cross(
      new JobExecutionError('again', { refireImmediately: true, giveUp: true, code: 'ERR_JOB_TIMEOUT' }),
    ) as JobExecutionError
    expect(steering).toBeInstanceOf(JobExecutionError)
    expect(steering).toMatchObject({
      name: 'JobExecutionError',
      code: 'ERR_JOB_TIMEOUT',
      refireImmediately: true,
      unscheduleFiringTrigger: false,
      unscheduleAllTriggers: false,
      giveUp: true,
    })
    const wrong = cross(new InvalidArgumentError('size', 'too big'))
    expect(SchedulerError.is(wrong)).toBe(true)
    expect(wrong).toMatchObject({ name: 'InvalidArgumentError', code: 'ERR_INVALID_ARGUMENT', field: 'size' })
  })

  it('are errors of this library also when a second copy of it threw them', () => {
    const foreign = Object.assign(new Error('elsewhere'), {
      '~quartz-ts/error': true,
      name: 'JobExecutionError',
      code: 'ERR_JOB_EXECUTION',
      refireImmediately: false,
      unscheduleFiringTrigger: true,
      unscheduleAllTriggers: false,
    })
    const arrived = cross(foreign)
    expect(arrived).toBeInstanceOf(JobExecutionError)
    expect(arrived).toMatchObject({ unscheduleFiringTrigger: true })
  })

  it('survive proxies whose traps throw', () => {
    const refuse = (): never => {
      throw new Error('no')
    }
    const error = new Proxy(new Error('a'), { get: refuse, has: refuse, ownKeys: refuse })
    expect(cross(error)).toBe('[an error that cannot be read]')
    expect(cross(new Error('b', { cause: error }))).toMatchObject({
      message: 'b',
      cause: '[an error that cannot be read]',
    })
  })

  it('survive getters that throw', () => {
    const error = new Error('a')
    for (const key of ['stack', 'cause', 'extra', 'message']) {
      Object.defineProperty(error, key, {
        enumerable: true,
        get: () => {
          throw new Error('no')
        },
      })
    }
    expect(cross(error)).toMatchObject({ message: '[a getter that throws]', extra: '[a getter that throws]' })
  })
})
