import { expect, test } from 'vitest'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { filteredPage } from '../../src/server/wire/pages.ts'
import { serverFixture } from '../support/server-fixture.ts'

test('a bulk action about more than 10,000 objects is refused before it begins', async () => {
  await using fixture = await serverFixture()
  const { scheduler } = fixture
  const add = (index: number): Promise<unknown> =>
    scheduler.addJob(JobBuilder.newJob('echo').withIdentity(`job-${index}`, 'many').storeDurably().build())
  const ask = (): ReturnType<typeof fixture.ask> =>
    fixture.ask('POST /bulk?dryRun=true', {
      body: { action: 'pause', of: 'jobs', filter: { group: 'many' } },
    })
  for (let index = 0; index < 10_000; index++) await add(index)
  expect(await ask()).toMatchObject({ status: 200, json: { result: { count: 10_000 } } })
  await add(10_000)
  expect(await ask()).toMatchObject({
    status: 400,
    json: { field: 'filter', detail: 'More than 10000 jobs fit: narrow the filter.' },
  })
})

test.each([1, 2, 7, 1000])(
  'pages of %i find each item once, however many are looked at in vain',
  async (take) => {
    const all = Array.from({ length: 42_000 }, (_, index) => index)
    const wanted = new Set([0, 1, 2, 999, 1000, 1001, 9_999, 10_000, 10_001, 35_000, 41_999])
    let looked = 0
    const load = async (
      count: number,
      after: number | undefined,
    ): Promise<{ readonly items: readonly number[]; readonly next: number | null }> => {
      const from = (after ?? -1) + 1
      const items = all.slice(from, from + count)
      looked += items.length
      return { items, next: from + count < all.length ? (items.at(-1) ?? null) : null }
    }
    const filter = { isWanted: (item: number) => wanted.has(item), keyOf: (item: number) => item }
    const found: number[] = []
    const sizes: number[] = []
    let after: number | undefined
    do {
      looked = 0
      const page = await filteredPage(load, { take, after }, filter)
      expect(looked).toBeLessThanOrEqual(10_000)
      found.push(...page.items)
      sizes.push(page.items.length)
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(found).toEqual([...wanted])
    expect(Math.max(...sizes)).toBeLessThanOrEqual(take)
    // A page may be empty and have a next one.
    expect(sizes).toContain(0)
  },
)
