import { describe, expect, test } from 'vitest'
import {
  first,
  later,
  noReply,
  run,
  type SqlProgram,
  type SqlReply,
  type SqlStatement,
  together,
} from '../../../../src/jobstore/sql/kernel/statement.ts'

const say = (text: string): SqlStatement => ({ text, values: [] })
const replyTo = (statement: SqlStatement): SqlReply => ({ rows: [{ to: statement.text }], changes: 1 })

/** Runs a program as an engine that puts off what it may; answers what was sent together, and what was answered. */
function carryOut<Answer>(program: SqlProgram<Answer>): { trips: string[][]; answer: Answer } {
  const trips: string[][] = []
  let unsent: SqlStatement[] = []
  const send = (): void => {
    trips.push(unsent.map(({ text }) => text))
    for (const statement of unsent) statement.pending?.settle(replyTo(statement))
    unsent = []
  }
  let step = program.next()
  while (step.done !== true) {
    unsent.push(step.value)
    if (step.value.pending !== undefined) step = program.next(noReply)
    else {
      send()
      step = program.next(replyTo(step.value))
    }
  }
  if (unsent.length > 0) send()
  return { trips, answer: step.value }
}

function* ask(...texts: string[]): SqlProgram<unknown[]> {
  const answers: unknown[] = []
  for (const text of texts) answers.push((yield* first(say(text)))?.['to'])
  return answers
}

describe('statements that nobody waits for', () => {
  test('go with the next one that somebody waits for, in order', () => {
    const { trips, answer } = carryOut(
      (function* () {
        const pending = yield* later(say('a'))
        yield* later(say('b'))
        const [c] = yield* ask('c')
        yield* later(say('d'))
        return [pending.reply.rows[0]?.['to'], c]
      })(),
    )
    expect(trips).toEqual([['a', 'b', 'c'], ['d']])
    expect(answer).toEqual(['a', 'c'])
  })

  test('have no reply before', () => {
    const program = (function* (): SqlProgram<unknown> {
      return (yield* later(say('a'))).reply
    })()
    expect(() => carryOut(program)).toThrow(/pending reply/)
  })
})

describe('programs side by side', () => {
  test('share round trips, and each is answered what it asked', () => {
    const { trips, answer } = carryOut(together(ask('a1', 'a2'), ask('b1', 'b2', 'b3')))
    expect(trips).toEqual([['a1', 'b1'], ['a2', 'b2'], ['b3']])
    expect(answer).toEqual([
      ['a1', 'a2'],
      ['b1', 'b2', 'b3'],
    ])
  })

  test('may be any number, nested, and may put off statements themselves: all are sent in their order', () => {
    const writes = function* (name: string): SqlProgram<number> {
      const pending = yield* later(say(`${name}-first`))
      const changes = yield* run(say(`${name}-last`))
      return changes + pending.reply.changes
    }
    const { trips, answer } = carryOut(together(ask('a'), together(writes('b'), ask('c'), ask('d'))))
    expect(trips).toEqual([['a', 'b-first', 'b-last', 'c', 'd']])
    expect(answer).toEqual([['a'], [2, ['c'], ['d']]])
  })

  test('are sent in their order also where one puts statements off behind what another waits for', () => {
    const putsOff = function* (name: string, ...asks: string[]): SqlProgram<unknown[]> {
      yield* later(say(`${name}-off`))
      return yield* ask(...asks)
    }
    const { trips, answer } = carryOut(together(ask('a1', 'a2'), putsOff('b', 'b1'), putsOff('c')))
    expect(trips).toEqual([['a1', 'b-off', 'c-off', 'b1'], ['a2']])
    expect(answer).toEqual([['a1', 'a2'], ['b1'], []])
  })

  test('send what they put off as soon as it is made', () => {
    const made: string[] = []
    const program = together(
      (function* (): SqlProgram<void> {
        for (const text of ['a1', 'a2']) {
          made.push(text)
          yield* later(say(text))
        }
      })(),
      ask('b'),
    )
    expect(program.next().value).toMatchObject({ text: 'a1' })
    expect(made).toEqual(['a1'])
  })

  test('that ask nothing cost nothing', () => {
    expect(carryOut(together(ask(), ask('b')))).toEqual({ trips: [['b']], answer: [[], ['b']] })
    expect(carryOut(together(ask(), ask()))).toEqual({ trips: [], answer: [[], []] })
  })
})
