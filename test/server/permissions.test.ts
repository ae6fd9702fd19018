import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'
import type { Operation } from '../../src/server/catalogue/operation.ts'
import { isAtLeast } from '../../src/server/catalogue/role.ts'
import {
  type Asked,
  addPlainJob,
  type ServerFixture,
  serverFixture,
  type Who,
} from '../support/server-fixture.ts'
import { type RightRequest, rightRequests } from '../support/server-requests.ts'

/** A request of every operation, as a dry run where it would change something: the order of tests is all one. */
const rows = catalogue.map((operation) => ({
  id: operation.id,
  operation,
  right: rightRequests[operation.id] ?? expect.fail(`no request for ${operation.id}`),
}))
const streams = rows.filter(({ operation }) => operation.isStream === true)
const changing = rows.filter(({ operation }) => operation.method !== 'GET')

const lineOf = ({ method, reach }: Operation, { path }: RightRequest): string =>
  `${method} ${path}${reach === null ? '' : `${path.includes('?') ? '&' : '?'}dryRun=true`}`

function expectedStatus(
  { role, jobGroups }: Operation,
  { jobGroup, status = 200 }: RightRequest,
  who: Who,
): number {
  if (role === null || (who !== 'reports' && isAtLeast(who, role))) return status
  if (who !== 'reports') return 403
  const isOwnGroup = jobGroup === 'reports' || (jobGroup === 'any' && jobGroups !== null)
  return isOwnGroup && isAtLeast('operator', role) ? status : 403
}

describe('every operation', () => {
  let fixture: ServerFixture
  beforeAll(async () => {
    fixture = await serverFixture()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const send = ({ operation, right }: (typeof rows)[number], asked: Asked): Promise<number> =>
    status(fixture, lineOf(operation, right), right, asked)

  test('has a request here, and every request an operation', () => {
    expect(Object.keys(rightRequests).toSorted()).toEqual(catalogue.map(({ id }) => id).toSorted())
    expect(new Set(catalogue.map(({ method, path }) => `${method} ${path}`)).size).toBe(catalogue.length)
  })

  test.each(rows)('$id is for its role and for more, and for no less', async (row) => {
    for (const who of ['viewer', 'operator', 'admin', 'reports'] as const) {
      expect([who, await send(row, { who })]).toEqual([who, expectedStatus(row.operation, row.right, who)])
    }
  })

  test.each(rows)('$id asks who it is', async (row) => {
    const refused = row.operation.role === null ? (row.right.status ?? 200) : 401
    expect(await send(row, { who: null })).toBe(refused)
    expect(await send(row, { who: null, headers: { authorization: 'Bearer wrong' } })).toBe(refused)
    expect(await send(row, { who: null, headers: { authorization: 'Basic YTpi' } })).toBe(refused)
    expect(
      await send(row, {
        who: null,
        headers: {
          cookie: `quartz_ts_session_${new URL(fixture.address).port}=AAAA`,
          origin: fixture.address,
        },
      }),
    ).toBe(refused)
  })

  test.each(changing)('$id takes nothing from pages of other sites', async (row) => {
    const origins = ['http://evil.example', 'null', fixture.address.replace('http:', 'http://evil.')]
    for (const origin of origins)
      expect([origin, await send(row, { headers: { origin } })]).toEqual([origin, 403])
    for (const site of ['cross-site', 'same-site']) {
      expect(await send(row, { headers: { 'sec-fetch-site': site } })).toBe(403)
    }
    const own = { origin: fixture.address, 'sec-fetch-site': 'same-origin' }
    expect(await send(row, { headers: own })).toBe(row.right.status ?? 200)
  })

  test('is there for each scheduler by name, and for no other', async () => {
    for (const { operation, right } of rows) {
      if (operation.isServerWide === true) continue
      const line = lineOf(operation, right)
      const named = line.replace(' /', ' /schedulers/QuartzScheduler/')
      expect(await status(fixture, named, right, {})).toBe(right.status ?? 200)
      const other = line.replace(' /', ' /schedulers/other/')
      expect(await status(fixture, other, right, {})).toBe(404)
    }
  })

  test('streams are the operations that say so', () => {
    expect(streams.map(({ id }) => id)).toEqual(['events.stream'])
  })
})

test('a read-only server changes nothing, whoever asks', async () => {
  await using fixture = await serverFixture({ readOnly: true })
  for (const { operation, right } of rows) {
    const expected = operation.reach === null ? (right.status ?? 200) : 403
    expect([operation.id, await status(fixture, lineOf(operation, right), right, {})]).toEqual([
      operation.id,
      expected,
    ])
  }
})

/** Reads the status alone: a stream has no end. */
async function status(
  { address }: ServerFixture,
  line: string,
  { body }: RightRequest,
  { who = 'admin', headers = {} }: Asked,
): Promise<number> {
  const [method = '', path = ''] = line.split(' ', 2)
  const ending = new AbortController()
  const response = await fetch(`${address}/api${path}`, {
    method,
    signal: ending.signal,
    headers: { ...(who !== null && { authorization: `Bearer ${who}-token` }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (isStream) ending.abort()
  else await response.text()
  return response.status
}

test('who has a role on some groups alone is not told how many jobs of all groups were executed', async () => {
  await using fixture = await serverFixture()
  const { scheduler } = fixture
  await scheduler.start()
  await scheduler.triggerJob(await addPlainJob(scheduler, 'echo', 'once', 'mail'))
  await scheduler.idle()
  for (const [who, numberOfJobsExecuted] of [
    ['viewer', 1],
    ['reports', null],
  ] as const) {
    expect((await fixture.ask('GET /scheduler', { who })).json).toMatchObject({ numberOfJobsExecuted })
    const { json } = await fixture.ask('GET /schedulers', { who })
    expect(json).toMatchObject({ items: [{ numberOfJobsExecuted }] })
  }
})
