import fc from 'fast-check'
import { expect } from 'vitest'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'
import { ask, filledScheduler, serverFixture } from './server-fixture.ts'
import { rightRequests } from './server-requests.ts'

const oddText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom(
    '..',
    '~',
    '%',
    '%00',
    '%2F',
    '%zz',
    '\0',
    "'; DROP TABLE x; --",
    '<script>',
    '9'.repeat(400),
    '__proto__',
  ),
)
const segment = oddText.map((text) => encodeURIComponent(text))
const name = fc.oneof(
  fc.constantFrom('take', 'after', 'filter', 'count', 'expression', 'timeZone', 'fromMs', 'dryRun'),
  oddText,
)
const value = fc.oneof(
  fc.constantFrom('1', '-1', '1e9', 'NaN', 'true', '0 0 0 ? * *', '8640000000000001'),
  oddText,
)
const query: fc.Arbitrary<[string, string][]> = fc.array(fc.tuple(name, value), { maxLength: 4 })

/** Something that nearly fits: the right body with a few values replaced. */
function nearly(body: unknown): fc.Arbitrary<unknown> {
  const junk = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(0, -1, 1e308, '', null, [], {}, '\0'))
  if (typeof body !== 'object' || body === null) return junk
  const entries = Object.entries(body as Record<string, unknown>)
  return fc.tuple(fc.nat(entries.length), junk, fc.boolean()).map(([at, other, adds]) => ({
    ...Object.fromEntries(entries.map(([key, each], index) => [key, index === at ? other : each])),
    ...(adds && { more: other }),
  }))
}

const wireBody = (body: unknown): fc.Arbitrary<string> =>
  fc.oneof(
    nearly(body).map((each) => JSON.stringify(each)),
    fc.json(),
    fc.constantFrom('{', '[]', 'null', '"', '{"__proto__":{}}', '[['.repeat(5000)),
  )

/** Sends junk and what nearly fits to every operation of a server: none of it may be a failure of the server. */
export async function throwJunk(jobStore: JobStore, numRuns: number): Promise<void> {
  const served = await filledScheduler({ jobStore })
  await using fixture = await serverFixture({ served })
  const rows = catalogue.filter(({ isStream }) => isStream !== true)
  const request = fc.constantFrom(...rows).chain((operation) => {
    const right = rightRequests[operation.id]
    const path = fc.oneof(
      fc.constant(right?.path ?? ''),
      fc.array(segment, { minLength: 3, maxLength: 3 }).map((parts) => filled(operation.path, parts)),
    )
    return fc.record({
      operation: fc.constant(operation),
      path,
      query: fc.oneof(
        { weight: 3, arbitrary: fc.constant<[string, string][]>([]) },
        { weight: 1, arbitrary: query },
      ),
      body:
        operation.method === 'GET'
          ? fc.constant(undefined)
          : fc.option(wireBody(right?.body), { nil: undefined }),
    })
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ operation, path, query: pairs, body }) => {
      const search = new URLSearchParams(pairs)
      const more = search.size === 0 ? '' : `${path.includes('?') ? '&' : '?'}${search.toString()}`
      const line = `${operation.method} ${path.replaceAll(' ', '+')}${more}`
      const { status, json, text } = await ask(fixture.address, line, body === undefined ? {} : { body })
      // Who asks whether all is well may be told that it is not.
      const isAnswer = status === operation.otherStatus
      expect([line, status >= 500 && !isAnswer ? text : status]).toEqual([line, status])
      if (status >= 400 && !isAnswer)
        expect(json).toMatchObject({ status, code: expect.stringMatching(/^ERR_/) as string })
    }),
    { seed: 20_261_122, numRuns, endOnFailure: true },
  )
}

function filled(path: string, parts: readonly string[]): string {
  return parts.reduce((text, part) => text.replace(/\{\w+\}/, part.replaceAll('$', '$$$$')), path)
}
