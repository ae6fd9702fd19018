import { expect, test } from 'vitest'
import { routes } from '../../dashboard/src/api/operations.ts'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'

test('the dashboard calls operations of the catalogue, where they are', () => {
  const known = Object.fromEntries(
    catalogue.map(({ id, method, path, isServerWide }) => [
      id,
      { method, path, ...(isServerWide === true && { isServerWide }) },
    ]),
  )
  for (const [id, route] of Object.entries(routes)) expect([id, route]).toEqual([id, known[id]])
})
