import { describe, expect, it } from 'vitest'
import {
  and,
  everything,
  GroupMatcher,
  jobKey,
  keyEquals,
  ListenerManager,
  type Matcher,
  NameMatcher,
  not,
  or,
  triggerKey,
} from '../../src/index.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'

function rethrow(_listener: object, error: unknown): never {
  throw error
}

const kinds = [
  {
    kind: 'job listener',
    add: (manager: ListenerManager, name: string, ...matchers: Matcher[]) => {
      const listener = { name, jobToBeExecuted() {} }
      manager.addJobListener(listener, ...matchers)
      return listener
    },
    matching: (manager: ListenerManager, name: string, group?: string) =>
      manager.jobListenersFor(jobKey(name, group), rethrow),
    all: (manager: ListenerManager) => manager.getJobListeners(),
    get: (manager: ListenerManager, name: string) => manager.getJobListener(name),
    remove: (manager: ListenerManager, name: string) => manager.removeJobListener(name),
  },
  {
    kind: 'trigger listener',
    add: (manager: ListenerManager, name: string, ...matchers: Matcher[]) => {
      const listener = { name, triggerFired() {} }
      manager.addTriggerListener(listener, ...matchers)
      return listener
    },
    matching: (manager: ListenerManager, name: string, group?: string) =>
      manager.triggerListenersFor(triggerKey(name, group), rethrow),
    all: (manager: ListenerManager) => manager.getTriggerListeners(),
    get: (manager: ListenerManager, name: string) => manager.getTriggerListener(name),
    remove: (manager: ListenerManager, name: string) => manager.removeTriggerListener(name),
  },
]

describe.each(kinds)('a $kind', ({ add, matching, all, get, remove }) => {
  const names = (listeners: readonly { readonly name: string }[]): string[] =>
    listeners.map(({ name }) => name)

  it('without a matcher is told of everything, with several of what any of them matches', () => {
    const manager = new ListenerManager()
    add(manager, 'all')
    add(manager, 'some', GroupMatcher.groupEquals('g'), NameMatcher.nameStartsWith('n'))
    expect(names(matching(manager, 'x', 'g'))).toEqual(['all', 'some'])
    expect(names(matching(manager, 'n1', 'h'))).toEqual(['all', 'some'])
    expect(names(matching(manager, 'x', 'h'))).toEqual(['all'])
  })

  it('takes the place, and the matchers, of the one with its name', () => {
    const manager = new ListenerManager()
    add(manager, 'a', GroupMatcher.groupEquals('g'))
    add(manager, 'b')
    const replacement = add(manager, 'a')
    expect(names(all(manager))).toEqual(['a', 'b'])
    expect(get(manager, 'a')).toBe(replacement)
    expect(names(matching(manager, 'x', 'h'))).toEqual(['a', 'b'])
  })

  it('can be taken away by name, once', () => {
    const manager = new ListenerManager()
    add(manager, 'a')
    expect(remove(manager, 'a')).toBe(true)
    expect(remove(manager, 'a')).toBe(false)
    expect(get(manager, 'a')).toBeNull()
    expect(all(manager)).toEqual([])
    expect(matching(manager, 'x')).toEqual([])
  })

  it('needs a name', () => {
    const manager = new ListenerManager()
    for (const name of ['', '  ', undefined as unknown as string]) {
      expect(() => add(manager, name)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
    }
  })

  it('does not mind what becomes of the list of its matchers', () => {
    const manager = new ListenerManager()
    const matchers = [GroupMatcher.groupEquals('g')]
    add(manager, 'a', ...matchers)
    matchers.length = 0
    expect(matching(manager, 'x', 'h')).toEqual([])
  })
})

describe('scheduler listeners', () => {
  it('are kept once each, in order, and taken away by identity', () => {
    const manager = new ListenerManager()
    const [first, second] = [{ jobAdded() {} }, { jobAdded() {} }]
    manager.addSchedulerListener(first)
    manager.addSchedulerListener(second)
    manager.addSchedulerListener(first)
    expect(manager.getSchedulerListeners()).toEqual([first, second])
    expect(manager.removeSchedulerListener(first)).toBe(true)
    expect(manager.removeSchedulerListener(first)).toBe(false)
    expect(manager.removeSchedulerListener({})).toBe(false)
    expect(manager.getSchedulerListeners()).toEqual([second])
  })
})

describe('matchers', () => {
  const key = jobKey('night-report', 'reports')
  const cases: readonly (readonly [string, Matcher, boolean])[] = [
    ['group equals', GroupMatcher.groupEquals('reports'), true],
    ['group equals another', GroupMatcher.groupEquals('report'), false],
    ['group starts with', GroupMatcher.groupStartsWith('rep'), true],
    ['group ends with', GroupMatcher.groupEndsWith('ports'), true],
    ['group contains', GroupMatcher.groupContains('epor'), true],
    ['group contains not', GroupMatcher.groupContains('night'), false],
    ['any group', GroupMatcher.anyGroup(), true],
    ['name equals', NameMatcher.nameEquals('night-report'), true],
    ['name equals in another case', NameMatcher.nameEquals('Night-Report'), false],
    ['name starts with', NameMatcher.nameStartsWith('night'), true],
    ['name ends with', NameMatcher.nameEndsWith('report'), true],
    ['name contains', NameMatcher.nameContains('t-r'), true],
    ['key equals', keyEquals(jobKey('night-report', 'reports')), true],
    ['key of another group', keyEquals(jobKey('night-report')), false],
    ['everything', everything(), true],
    ['not', not(everything()), false],
    ['and, both', and(everything(), GroupMatcher.groupEquals('reports')), true],
    ['and, one', and(everything(), not(everything())), false],
    ['or, one', or(not(everything()), everything()), true],
    ['or, none', or(not(everything()), not(everything())), false],
  ]

  it.each(cases)('%s', (_name, matcher, matches) => {
    expect(matcher.isMatch(key)).toBe(matches)
  })
})

describe('listeners of a running scheduler', () => {
  it('are told only of the jobs and triggers that they match, and may come and go', async () => {
    const heard: string[] = []
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})])
    const { listenerManager } = scheduler
    for (const [name, matcher] of [
      ['ours', GroupMatcher.groupEquals('DEFAULT')],
      ['theirs', GroupMatcher.groupEquals('theirs')],
    ] as const) {
      listenerManager.addJobListener(
        {
          name,
          jobWasExecuted: ({ jobKey: key }) => {
            heard.push(`${name} job ${key.toString()}`)
          },
        },
        matcher,
      )
      listenerManager.addTriggerListener(
        {
          name,
          triggerFired: ({ key }) => {
            heard.push(`${name} trigger ${key.toString()}`)
          },
        },
        matcher,
      )
    }
    await scheduler.scheduleJob(detailOf('job'), firing(startMs, 3))
    await clock.advance(10)
    expect(heard).toEqual(['ours trigger DEFAULT.trigger', 'ours job DEFAULT.job'])
    listenerManager.removeTriggerListener('ours')
    await clock.advance(1000)
    expect(heard.slice(2)).toEqual(['ours job DEFAULT.job'])
    await scheduler.shutdown()
  })
})

describe('a listener that nothing would ever call', () => {
  class Misspelt {
    readonly name = 'misspelt'
    triggerfired(): void {}
  }

  it.each([
    ['addJobListener', { name: 'x', jobExecuted() {} }, "Did you mean 'jobWasExecuted' by 'jobExecuted'?"],
    ['addTriggerListener', new Misspelt(), "Did you mean 'triggerFired' by 'triggerfired'?"],
    ['addSchedulerListener', { onJobAdded() {} }, "Did you mean 'jobAdded' by 'onJobAdded'?"],
    ['addJobListener', { name: 'x' }, 'Give it one of allShardsDone, jobToBeExecuted,'],
  ] as const)('is refused by %s with what was meant', (method, listener, remedy) => {
    const manager = new ListenerManager()
    expect(() => {
      manager[method](listener as never)
    }).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_ARGUMENT',
        field: 'listener',
        message: expect.stringContaining(`${method}: 'listener' has no callback. ${remedy}`) as string,
      }),
    )
  })

  it('may have other methods beside a callback', () => {
    const manager = new ListenerManager()
    const listener = { name: 'x', jobWasExecuted() {}, jobExecuted() {} }
    manager.addJobListener(listener)
    expect(manager.getJobListeners()).toEqual([listener])
  })
})
