import { describe, expect, it } from 'vitest'
import { Gatherer } from '../../src/core/gatherer.ts'

describe('Gatherer', () => {
  it('hands over together what came together', async () => {
    const calls: (readonly number[])[] = []
    const gatherer = new Gatherer<number, number>((items) => {
      calls.push(items)
      return Promise.resolve(items.map((item) => item * 2))
    })

    expect(await Promise.all([1, 2, 3].map((item) => gatherer.add(item)))).toEqual([2, 4, 6])
    expect(await gatherer.add(4)).toBe(8)

    expect(calls).toEqual([[1, 2, 3], [4]])
  })

  it('tries each item alone when a call with several fails', async () => {
    const gatherer = new Gatherer<number, number>((items) =>
      items.includes(2) ? Promise.reject(new Error('two')) : Promise.resolve(items),
    )

    const answers = await Promise.allSettled([1, 2, 3].map((item) => gatherer.add(item)))

    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('gathers until what is to end before the next call has ended', async () => {
    const calls: (readonly number[])[] = []
    let end = (): void => {}
    const isEnded = new Promise<void>((resolve) => {
      end = resolve
    })
    const gatherer = new Gatherer<number, number>(
      (items) => {
        calls.push(items)
        return Promise.resolve(items)
      },
      () => isEnded,
    )
    await gatherer.add(1)
    const second = gatherer.add(2)
    await new Promise(setImmediate)
    const third = gatherer.add(3)
    expect(calls).toEqual([[1]])

    end()
    await Promise.all([second, third])

    expect(calls).toEqual([[1], [2, 3]])
  })
})
