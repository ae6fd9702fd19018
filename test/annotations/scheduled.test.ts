import { describe, expect, test } from 'vitest'
import type { PlaceholderResolver } from '../../src/annotations/placeholders.ts'
import { type Schedule, scheduleOf } from '../../src/annotations/schedule.ts'
import { Scheduled, type ScheduledContext, scheduled } from '../../src/annotations/scheduled.ts'
import { hasScheduledMethods, scheduledMethodsOf } from '../../src/annotations/scheduled-methods.ts'
import type { ScheduledOptions } from '../../src/annotations/scheduled-options.ts'
import { InvalidArgumentError } from '../../src/core/errors.ts'

const context: ScheduledContext = { signal: new AbortController().signal, execution: null }

/** Stands above nothing: what a decorator that wraps a method looks like. */
function Wrapping<This>(method: (this: This) => unknown): (this: This) => unknown {
  return function (this: This) {
    return method.call(this)
  }
}

const apply = (options: unknown): unknown => Scheduled(options as ScheduledOptions)

describe('S2: @Scheduled', () => {
  class Reports {
    readonly ran: string[] = []
    readonly #secret = 'secret'

    @Scheduled({ cron: '0 0 7 * * *', name: 'morning' })
    @Scheduled({ cron: '0 0 19 * * *', name: 'evening' })
    daily(): string {
      this.ran.push(`daily ${this.#secret}`)
      return this.#secret
    }

    @Scheduled({ fixedRate: '5s' })
    async poll({ signal }: ScheduledContext): Promise<void> {
      this.ran.push(`poll ${signal.aborted}`)
      await Promise.resolve()
    }

    @Scheduled({ fixedDelay: 100 })
    static sweep(): string {
      return this.name
    }

    plain(): void {}
  }

  test('is repeatable, keeps the order, and runs the method on its object', async () => {
    const reports = new Reports()
    const methods = scheduledMethodsOf([reports])
    expect(methods.map(({ name, methodName }) => [name, methodName])).toEqual([
      ['morning', 'Reports.daily'],
      ['evening', 'Reports.daily'],
      ['Reports.poll', 'Reports.poll'],
    ])
    expect(methods[0]?.run(context)).toBe('secret')
    await methods[2]?.run(context)
    expect(reports.ran).toEqual(['daily secret', 'poll false'])
  })

  test('goes on static methods, for the class itself', () => {
    const [sweep, ...others] = scheduledMethodsOf([Reports])
    expect(others).toEqual([])
    expect(sweep).toMatchObject({ name: 'Reports.sweep', options: { fixedDelay: 100 } })
    expect(sweep?.run(context)).toBe('Reports')
  })

  test('is inherited, and an override without it is not scheduled', () => {
    class Weekly extends Reports {
      override daily(): string {
        return 'overridden'
      }
      @Scheduled({ fixedRate: '1h' })
      override async poll(): Promise<void> {}
    }
    expect(scheduledMethodsOf([new Weekly()]).map(({ name, options }) => [name, options.fixedRate])).toEqual([
      ['Weekly.poll', '1h'],
    ])
    class Monthly extends Reports {}
    expect(scheduledMethodsOf([new Monthly()]).map(({ methodName }) => methodName)).toEqual([
      'Monthly.daily',
      'Monthly.daily',
      'Monthly.poll',
    ])
  })

  test('works without a decorator, on functions of any object', () => {
    class Plain {
      tick(): string {
        return 'tick'
      }
      readonly arrow = scheduled({ fixedRate: '1s' }, () => 'arrow')
    }
    const { tick } = Plain.prototype as { tick: (this: unknown) => string }
    expect(scheduled({ fixedDelay: '2s' }, tick)).toBe(tick)
    const literal = { job: scheduled({ cron: '@daily' }, () => 'literal') }
    const methods = scheduledMethodsOf([new Plain(), literal])
    expect(methods.map((method) => [method.name, method.run(context)])).toEqual([
      ['Plain.tick', 'tick'],
      ['Plain.arrow', 'arrow'],
      ['Object.job', 'literal'],
    ])
    const frozen = Object.freeze(() => {})
    expect(() => scheduled({ fixedRate: 1 }, frozen)).toThrow(/frozen. Pass a function that calls it/)
    const generator = function* (): Generator<number> {
      yield 1
    }
    expect(() => scheduled({ fixedRate: 1 }, generator as never)).toThrow(/generator cannot be scheduled/)
    expect(() => scheduled({ fixedRate: 1 }, 'tick' as never)).toThrow(/the function to run, got 'tick'/)
  })

  test('runs no getter to find methods', () => {
    class Lazy {
      get trap(): never {
        throw new Error('was read')
      }
      @Scheduled({ fixedRate: 1 })
      tick(): void {}
    }
    expect(scheduledMethodsOf([new Lazy()])).toHaveLength(1)
  })

  test('stands above decorators that wrap the method, and says so when it does not', () => {
    class Above {
      @Scheduled({ fixedRate: 1 })
      @Wrapping
      tick(): void {}
    }
    expect(scheduledMethodsOf([new Above()])).toHaveLength(1)
    class Below {
      @Wrapping
      @Scheduled({ fixedRate: 1 })
      tick(): void {}
    }
    expect(() => new Below()).toThrow(/'tick' is hidden by another decorator.*Put @Scheduled above/)
  })

  test('refuses what is no method, and decorators of another kind', () => {
    const decorate = Scheduled({ fixedRate: 1 }) as (...given: unknown[]) => void
    // What TypeScript passes under experimentalDecorators for a field.
    expect(() => {
      decorate({}, 'tick', undefined)
    }).toThrow(/is for methods\. .*use scheduled\(options, method\)/)
    expect(() => {
      decorate(undefined, { kind: 'field', name: 'tick', private: false })
    }).toThrow(/is for methods, not for a 'field'\. .*use scheduled\(options, method\)/)
  })

  test('schedules methods under experimentalDecorators, and says when another decorator hides one', () => {
    const decorate = (holder: object, name: string): void => {
      const descriptor = Object.getOwnPropertyDescriptor(holder, name) ?? {}
      Scheduled({ fixedRate: 1 })(holder, name, descriptor)
    }
    class Legacy {
      static sweep(): string {
        return 'swept'
      }
      tick(): string {
        return 'tick'
      }
    }
    decorate(Legacy.prototype, 'tick')
    decorate(Legacy, 'sweep')
    const methods = scheduledMethodsOf([new Legacy(), Legacy])
    expect(methods.map((method) => [method.name, method.run(context)])).toEqual([
      ['Legacy.tick', 'tick'],
      ['Legacy.sweep', 'swept'],
    ])
    class Overridden extends Legacy {
      override tick(): string {
        return 'other'
      }
    }
    expect(hasScheduledMethods(new Overridden())).toBe(false)
    Legacy.prototype.tick = () => 'wrapped'
    expect(() => scheduledMethodsOf([new Legacy()])).toThrow(/'tick' is hidden by another decorator/)
  })

  test('tells objects with scheduled methods from others', () => {
    expect([new Reports(), {}, Map, Reports].map(hasScheduledMethods)).toEqual([true, false, false, true])
    // What a container may hold as well.
    expect([[new Reports()], Buffer.alloc(2), new Map()].map(hasScheduledMethods)).toEqual([
      false,
      false,
      false,
    ])
    expect(() => hasScheduledMethods(null as never)).toThrow(/takes an object, got null/)
  })

  test('counts an object once that is there under two names', () => {
    const reports = new Reports()
    const once = scheduledMethodsOf([reports]).map(({ name }) => name)
    expect(scheduledMethodsOf([reports, reports]).map(({ name }) => name)).toEqual(once)
    expect(scheduledMethodsOf([reports, new Reports()])).toHaveLength(2 * once.length)
  })

  test('refuses private methods, and objects without a scheduled method', () => {
    expect(() => {
      class Private {
        @Scheduled({ fixedRate: 1 })
        #tick(): void {}
        use(): void {
          this.#tick()
        }
      }
      return Private
    }).toThrow(/cannot reach the private method '#tick'/)
    expect(() => scheduledMethodsOf([new Reports(), {}])).toThrow(
      /instances\[1\]: an instance of 'Object' has no method/,
    )
    class Instances {
      @Scheduled({ fixedRate: 1 })
      tick(): void {}
    }
    expect(() => scheduledMethodsOf([Instances])).toThrow(/class 'Instances' has no static.*pass an instance/)
    expect(() => scheduledMethodsOf([null as never])).toThrow(/null has no method/)
  })
})

describe('S3: exactly one schedule', () => {
  test('is what the types say', () => {
    expect(() => {
      // @ts-expect-error -- no schedule
      Scheduled({})
    }).toThrow(InvalidArgumentError)
    expect(() => {
      // @ts-expect-error -- two schedules
      Scheduled({ fixedRate: 1, fixedDelay: 1 })
    }).toThrow(InvalidArgumentError)
    expect(() => {
      // @ts-expect-error -- an initial delay with cron
      Scheduled({ cron: '@daily', initialDelay: 1 })
    }).toThrow(InvalidArgumentError)
    expect(() => {
      // @ts-expect-error -- a zone without cron
      Scheduled({ fixedRate: 1, zone: 'UTC' })
    }).toThrow(InvalidArgumentError)
    class Typed {
      // @ts-expect-error -- a scheduled method takes its context or nothing
      @Scheduled({ fixedRate: 1 })
      greet(name: string): string {
        return name
      }
    }
    expect(scheduledMethodsOf([new Typed()])).toHaveLength(1)
  })

  test.each<[string, unknown, string]>([
    ['none', {}, 'exactly one of cron, fixedRate and fixedDelay, got none'],
    ['two', { cron: '@daily', fixedRate: 1 }, 'got cron and fixedRate'],
    ['three', { cron: '@daily', fixedRate: 1, fixedDelay: 1 }, 'got cron and fixedRate and fixedDelay'],
    ['initialDelay with cron', { cron: '@daily', initialDelay: 1 }, `'initialDelay' does not go with cron`],
    ['timeUnit with cron', { cron: '@daily', timeUnit: 'seconds' }, `'timeUnit' does not go with cron`],
    ['zone with fixedRate', { fixedRate: 1, zone: 'UTC' }, `'zone' does not go with fixedRate`],
    ['dst with fixedDelay', { fixedDelay: 1, dst: 'vixie' }, `'dst' does not go with fixedDelay`],
    ['an unknown option', { fixedRate: 1, intialDelay: 1 }, `Did you mean 'initialDelay'?`],
    ['an unknown unit', { fixedRate: 1, timeUnit: 'weeks' }, `'timeUnit' must be one of milliseconds`],
    ['an unknown misfire', { cron: '@daily', misfireInstruction: 'now' }, `must be one of smart`],
    ['a blank cron', { cron: ' ' }, `'cron' must be text that is not blank`],
    ['no object', '5s', `takes an object such as`],
    ['a strange rate', { fixedRate: true }, `'fixedRate' must be a number`],
  ])('refuses %s', (_what, options, message) => {
    expect(() => apply(options)).toThrow(InvalidArgumentError)
    expect(() => apply(options)).toThrow(message)
  })
})

describe('S4: placeholders and durations', () => {
  const values: Record<string, string> = {
    'report.cron': '0 0 6 * * *',
    rate: '30',
    off: '-',
    zone: 'Asia/Tokyo',
  }
  const resolve: PlaceholderResolver = (name) => values[name]
  const read = (options: ScheduledOptions): Schedule => scheduleOf('@Scheduled A.b', options, resolve)

  test.each<[ScheduledOptions, object]>([
    [{ fixedRate: 1500 }, { kind: 'fixedRate', periodMs: 1500, initialDelayMs: 0 }],
    [
      { fixedRate: '5s', initialDelay: 'PT1M' },
      { periodMs: 5000, initialDelayMs: 60_000 },
    ],
    [
      { fixedDelay: 2, initialDelay: 1, timeUnit: 'hours' },
      { delayMs: 7_200_000, initialDelayMs: 3_600_000 },
    ],
    [{ fixedDelay: 'PT0.5S' }, { kind: 'fixedDelay', delayMs: 500 }],
    [{ fixedRate: '${rate}', timeUnit: 'seconds' }, { periodMs: 30_000 }],
    [{ fixedRate: '${missing:${rate}}' }, { periodMs: 30 }],
    [{ fixedRate: '${missing:2}m' }, { periodMs: 120_000 }],
    [{ cron: '${missing:-}' }, { kind: 'disabled' }],
    [{ cron: '-' }, { kind: 'disabled' }],
    [{ fixedRate: '${off}' }, { kind: 'disabled' }],
    [{ fixedDelay: '-' }, { kind: 'disabled' }],
  ])('%j', (options, expected) => {
    expect(read(options)).toMatchObject(expected)
  })

  test('an initial delay cannot be switched off', () => {
    expect(() => read({ fixedRate: '5s', initialDelay: '-' })).toThrow(/'initialDelay'/)
    expect(() => read({ fixedDelay: '5s', initialDelay: '${off}' })).toThrow(/'initialDelay'/)
  })

  test('fill cron and zone', () => {
    const schedule = read({ cron: '${report.cron}', zone: '${zone}', dst: 'quartz' })
    expect(schedule).toMatchObject({
      kind: 'cron',
      misfireInstruction: 'smart',
      cron: { expression: '0 0 6 * * *', dialect: 'spring', timeZone: 'Asia/Tokyo', dst: 'quartz' },
    })
  })

  test.each<[ScheduledOptions, RegExp]>([
    [
      { cron: '${unknown}' },
      /A\.b: 'cron' names placeholder 'unknown', which has no value\..*'\$\{unknown:\.\.\.\}'/,
    ],
    [{ cron: '${report.cron' }, /is not closed/],
    [{ cron: '${}' }, /placeholder ''/],
    [{ cron: '0 0 0 * *' }, /^@Scheduled A\.b: 'cron': .* it has 5 fields, needed are 6/],
    [{ cron: '@daily', zone: 'Mars/Phobos' }, /^@Scheduled A\.b: 'zone': Unknown time zone/],
    [{ fixedRate: 0 }, /'fixedRate' must be a duration, at least 1 ms/],
    [{ fixedRate: '5 s' }, /'5s' or 'PT5S' \(units: ms, s, m, h, d\); got '5 s'/],
    [{ fixedDelay: Number.NaN }, /got NaN/],
    [{ fixedDelay: 1, initialDelay: -1 }, /'initialDelay' must be a duration, not negative/],
    [{ fixedDelay: '1000001d' }, /at most a million days/],
  ])('%j is refused', (options, message) => {
    expect(() => read(options)).toThrow(message)
  })

  test('an error that names the method keeps its code, its details and its cause', () => {
    const cause: unknown = expect.any(Error)
    const refused = (options: ScheduledOptions): unknown => {
      try {
        return read(options)
      } catch (error) {
        return error
      }
    }
    const [expression, position] = ['0 0 0 30 2 *', 6]
    const detail = { field: 'dayOfMonth', expression, position, cause }
    expect(refused({ cron: expression })).toMatchObject({ code: 'ERR_INVALID_CRON_EXPRESSION', ...detail })
    const zone = { code: 'ERR_UNKNOWN_TIME_ZONE', field: 'zone', cause }
    expect(refused({ cron: '@daily', zone: 'Mars/Phobos' })).toMatchObject(zone)
  })
})

test('one function under two names is refused, because both would run by the schedules of both', () => {
  const run = (): void => {}
  const tasks = { a: scheduled({ fixedRate: '1h' }, run), b: scheduled({ fixedRate: '2h' }, run) }
  expect(() => scheduledMethodsOf([tasks])).toThrow(/Object\.b: Object\.a is the same function/)
})
