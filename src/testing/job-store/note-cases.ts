import assert from 'node:assert/strict'
import type { JobStoreNotes } from '../../jobs/job-store-notes.ts'
import { area, type StoreCase } from './store-case.ts'
import type { Testbed } from './testbed.ts'

export function notesOf({ store }: Testbed): JobStoreNotes {
  assert.ok(store.notes !== null, 'the store keeps notes')
  return store.notes
}

const kept = area('notes: shared texts', {
  'are made once, and changed only in the version that was read': async (bed) => {
    const notes = notesOf(bed)
    assert.deepEqual(await notes.list('a'), [])
    assert.equal(await notes.put('a', 'n', 'one', null), true)
    assert.equal(await notes.put('a', 'n', 'other', null), false)
    assert.deepEqual(await notes.list('a'), [{ name: 'n', version: 1, text: 'one' }])
    assert.equal(await notes.put('a', 'n', 'two', 1), true)
    assert.equal(await notes.put('a', 'n', 'late', 1), false)
    assert.equal(await notes.put('a', 'absent', 'late', 1), false)
    assert.deepEqual(await notes.list('a'), [{ name: 'n', version: 2, text: 'two' }])
    assert.deepEqual(await notes.get('a', 'n'), { name: 'n', version: 2, text: 'two' })
    assert.deepEqual([await notes.get('a', 'absent'), await notes.get('b', 'n')], [null, null])
  },
  'are deleted only in the version that was read': async (bed) => {
    const notes = notesOf(bed)
    await notes.put('a', 'n', 'one', null)
    await notes.put('a', 'n', 'two', 1)
    assert.equal(await notes.delete('a', 'n', 1), false)
    assert.equal(await notes.delete('a', 'n', 2), true)
    assert.equal(await notes.delete('a', 'n', 2), false)
    assert.deepEqual(await notes.list('a'), [])
    assert.equal(await notes.put('a', 'n', 'again', null), true)
    assert.deepEqual(await notes.list('a'), [{ name: 'n', version: 1, text: 'again' }])
  },
  'are listed by kind in order of their names, and outlive clear': async (bed) => {
    const notes = notesOf(bed)
    for (const name of ['b', 'é', 'a', 'B']) await notes.put('a', name, `'${name}' ✓`, null)
    await notes.put('b', 'a', 'of another kind', null)
    await bed.store.clear()
    assert.deepEqual(
      (await notes.list('a')).map(({ name, text }) => [name, text]),
      ['B', 'a', 'b', 'é'].map((name) => [name, `'${name}' ✓`]),
    )
  },
  'are written by one of many that write at the same time': async (bed) => {
    const notes = notesOf(bed)
    const wins = await Promise.all(
      Array.from({ length: 10 }, (_, index) => notes.put('a', 'n', String(index), null)),
    )
    assert.equal(wins.filter(Boolean).length, 1)
  },
})

export const noteCases: readonly StoreCase[] = kept
