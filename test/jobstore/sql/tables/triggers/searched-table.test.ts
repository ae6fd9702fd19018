import { describe, expect, it } from 'vitest'
import { searchesUntilAlone } from '../../../../../src/jobstore/sql/tables/triggers/searched-table.ts'
import { TriggerTable } from '../../../../../src/jobstore/sql/tables/triggers/trigger-table.ts'
import { findOnly, searchThatFinds } from '../../../../support/searches.ts'
import { sqliteWords } from '../../../../support/sqlite.ts'

const fresh = (): TriggerTable => new TriggerTable({ ...sqliteWords, schedulerName: 'S' }, 'json')

/** The tables of schedules that each statement of a search joins. */
function joinedBy(triggers: TriggerTable, ...types: readonly string[]): readonly string[] {
  const isJoined = (text: string) => (name: string) => text.includes(`_${name}_triggers`)
  return searchThatFinds(triggers, types).map((text) => {
    return ['simple', 'cron', 'simprop'].filter(isJoined(text)).join()
  })
}

const all = 'simple,cron,simprop'

describe('the tables of schedules that a search joins', () => {
  it.each([
    ['SIMPLE', 'simple'],
    ['CRON', 'cron'],
    ['CAL_INT', 'simprop'],
  ])('are one alone after searches that found only %s', (type, table) => {
    const triggers = fresh()
    for (let each = 0; each < searchesUntilAlone; each++)
      expect(joinedBy(triggers, type, type)).toEqual([all])
    expect(joinedBy(triggers, type)).toEqual([table])
    expect(joinedBy(triggers)).toEqual([table])
  })

  it('are all where triggers of several kinds are found', () => {
    const triggers = fresh()
    for (let each = 0; each < searchesUntilAlone; each++) {
      expect(joinedBy(triggers, 'SIMPLE', 'CRON')).toEqual([all])
      expect(joinedBy(triggers, 'SIMPLE')).toEqual([all])
    }
  })

  it.each(['CRON', 'BLOB', 'of another program'])('are all again, at once, where one finds %s', (type) => {
    const triggers = findOnly(fresh(), 'SIMPLE')
    expect(joinedBy(triggers, 'SIMPLE', type)).toEqual(['simple', all])
    for (let each = 0; each < searchesUntilAlone; each++) expect(joinedBy(triggers, 'SIMPLE')).toEqual([all])
    expect(joinedBy(triggers, 'SIMPLE')).toEqual(['simple'])
  })

  it('are all while searches find nothing', () => {
    const triggers = fresh()
    for (let each = 0; each <= searchesUntilAlone; each++) expect(joinedBy(triggers)).toEqual([all])
  })
})
