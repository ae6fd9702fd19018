import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'

interface OverviewRequests {
  readonly overviewRequests: readonly { readonly paths: readonly string[] }[]
}

const bench = new URL('../../bench/lib/overview-requests.mjs', import.meta.url).href
const folder = new URL('../../dashboard/src/pages/overview/', import.meta.url)

/** In place of scheduler.overview for those with a role on some groups alone; the benchmark signs in an admin. */
const ofGroupRoles = 'triggers.list'

/** What the files of the page call for an admin, as far as it only reads. */
function readOperations(): string[] {
  const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'))
  const called = sources.flatMap((source) => [...source.matchAll(/\bcall\('([\w.]+)'/g)].map(([, id]) => id))
  return catalogue
    .filter(({ id, method }) => method === 'GET' && id !== ofGroupRoles && called.includes(id))
    .map(({ id }) => id)
}

test('the page of the benchmark asks for all that the Overview asks for', async () => {
  const { overviewRequests } = (await import(bench)) as OverviewRequests
  const asked = overviewRequests
    .flatMap(({ paths }) => paths)
    .map((text) => {
      const { pathname } = new URL(text, 'http://localhost')
      return catalogue.find(({ method, path }) => method === 'GET' && path === pathname)?.id
    })
  expect(asked.toSorted()).toEqual(readOperations().toSorted())
})
