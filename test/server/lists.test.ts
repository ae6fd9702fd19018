import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServerFixture, serverFixture } from '../support/server-fixture.ts'

let fixture: ServerFixture
beforeAll(async () => {
  fixture = await serverFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

interface PageAnswer {
  readonly items: readonly object[]
  readonly next: string | null
}

const pageOf = async (path: string): Promise<PageAnswer> =>
  (await fixture.ask(`GET ${path}`)).json as PageAnswer

test.each([
  ['data.fail:true', "'data.fail:true'; write data.fail=true."],
  ['foo', "'foo' by itself; terms begin with job:, trigger:, group:, node:, outcome:"],
  ['job:a/b late>', "'late>' without a value that can be read; terms begin with job:"],
  ['job:', "'job:' without a value that can be read"],
  ['"', 'nothing that can be read at character 1; terms begin with job:'],
])('a filter says what to write: %s', async (wrong, remedy) => {
  const { json } = await fixture.ask(`GET /executions?filter=${encodeURIComponent(wrong)}`)
  expect((json as { detail: string }).detail).toContain(`The filter of executions has ${remedy}`)
})

test('a page goes on with that of its own list and filters, and with no other', async () => {
  const { next } = await pageOf('/jobs?group=mail&take=1')
  const after = `after=${next ?? ''}`
  expect((await pageOf(`/jobs?group=mail&take=2&${after}`)).items).toHaveLength(2)
  const others = ['/jobs?', '/jobs?group=reports&', '/triggers?', '/triggers?group=mail&', '/job-status?']
  for (const other of others) {
    const { status, json } = await fixture.ask(`GET ${other}${after}`)
    const detail = "'after' must be the 'next' of a page of this list, with the same filters."
    expect([other, status, json]).toMatchObject([other, 400, { field: 'after', detail }])
  }
})

test('a page goes on where the instants of a list have moved', async () => {
  const list = '/triggers?order=nextFireTime&take=1'
  const { next } = await pageOf(`${list}&dueBeforeMs=9999999999999`)
  expect((await pageOf(`${list}&dueBeforeMs=9999999999998&after=${next ?? ''}`)).items).toHaveLength(1)
})
