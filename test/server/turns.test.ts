import { expect, test } from 'vitest'
import { Turns, waitingMax, waitMaxMs } from '../../src/server/http/turns.ts'
import { ManualClock } from '../../src/testing.ts'

/** Changes that end when they are told to. */
function rig() {
  const clock = new ManualClock()
  const turns = new Turns(clock)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const change = (name: string, thing = 'job'): Promise<string> =>
    turns.take(thing, async () => {
      begun.push(name)
      await new Promise<void>((resolve) => {
        ends.set(name, resolve)
      })
      return name
    })
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { clock, begun, change, end }
}

test('changes of one thing are made one after the other, and those of another one at once', async () => {
  const { begun, change, end } = rig()
  const all = [change('a'), change('b'), change('other', 'trigger'), change('c')]
  expect(begun).toEqual(['a', 'other'])
  for (const name of ['a', 'b', 'other', 'c']) await end(name)
  expect(begun).toEqual(['a', 'other', 'b', 'c'])
  expect(await Promise.all(all)).toEqual(['a', 'b', 'other', 'c'])
})

test('a change that fails lets the next one go on', async () => {
  const turns = new Turns(new ManualClock())
  const failing = turns.take('job', () => Promise.reject(new Error('no')))
  const next = turns.take('job', async () => 'done')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
})

test('no more than so many wait', async () => {
  const { begun, change, end } = rig()
  const names = Array.from({ length: waitingMax + 1 }, (_, place) => `${place}`)
  const all = names.map((name) => change(name))
  await expect(change('one too many')).rejects.toMatchObject({ code: 'ERR_RATE_LIMITED' })
  for (const name of names) await end(name)
  expect(await Promise.all(all)).toEqual(names)
  expect(begun).toEqual(names)
})

test('who has waited for too long gives up, and lets no other begin too early', async () => {
  const { clock, begun, change, end } = rig()
  const first = change('first')
  const second = expect(change('second')).rejects.toMatchObject({ code: 'ERR_RATE_LIMITED' })
  await clock.advance(waitMaxMs)
  await second
  const late = change('late')
  await new Promise(setImmediate)
  expect(begun).toEqual(['first'])
  await end('first')
  expect([await first, begun]).toEqual(['first', ['first', 'late']])
  await end('late')
  expect(await late).toBe('late')
})
