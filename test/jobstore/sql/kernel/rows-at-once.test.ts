import { expect, test } from 'vitest'
import { insertMissingQuery } from '../../../../src/jobstore/sql/kernel/row-set.ts'
import { sqliteWords } from '../../../support/sqlite.ts'

const rows = Array.from({ length: 20 }, (_, n) => ({ n }))

test('rows that are stored at once have parameters of their own, also where a dialect uses one again', () => {
  const numbered = {
    ...sqliteWords.dialect,
    reusesParameters: true,
    placeholder: (place: number) => `@p${place}`,
  }
  const vocabulary = { ...sqliteWords, dialect: numbered, schedulerName: 'S' }
  const { atOnce } = insertMissingQuery(vocabulary, 't', { n: 'bigint' })('S', rows)
  const parameters = atOnce?.text.match(/@p\d+/g)
  expect(parameters).toEqual(Array.from({ length: 2 * 16 }, (_, place) => `@p${place + 1}`))
})
