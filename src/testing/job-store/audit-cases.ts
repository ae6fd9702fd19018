import assert from 'node:assert/strict'
import type { AuditEntry, AuditQuery } from '../../jobstore/audit.ts'
import { area, type StoreCase } from './store-case.ts'
import { only, type Testbed } from './testbed.ts'

/** An entry of the present instant. */
function entryOf(bed: Testbed, id: string, changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    timeMs: bed.now(),
    id,
    by: 'ann',
    address: '10.0.0.1',
    node: 'n1',
    operation: 'jobs.put',
    targetGroup: 'reports',
    targetName: 'daily',
    outcome: 'done',
    times: 1,
    errorText: null,
    requestText: null,
    beforeText: '{"a":1}',
    afterText: '{"a":2}',
    ...changes,
  }
}

async function write(bed: Testbed, ...audits: readonly AuditEntry[]): Promise<void> {
  await bed.store.records?.write({ audits })
}

async function find(bed: Testbed, query: AuditQuery = {}): Promise<AuditEntry[]> {
  const found: AuditEntry[] = []
  for (let after = query.after; ; ) {
    const page = await bed.store.records?.queryAudit({ ...query, ...(after && { after }) })
    found.push(...(page?.items ?? []))
    if (page === undefined || page.next === null) return found
    after = page.next
  }
}

async function ids(bed: Testbed, query: AuditQuery = {}): Promise<string[]> {
  return (await find(bed, query)).map(({ id }) => id)
}

export const auditCases: readonly StoreCase[] = area(
  'audit',
  {
    'holds all that is noted': async (bed) => {
      const whole = entryOf(bed, 'a', {
        outcome: 'failed',
        times: 7,
        errorText: 'ERR_NOT_FOUND: no',
        requestText: '{}',
      })
      await write(bed, whole)
      assert.deepEqual(await find(bed), [whole])
      const bare = entryOf(bed, 'b', {
        by: null,
        address: null,
        targetGroup: null,
        targetName: null,
        beforeText: null,
        afterText: null,
      })
      await write(bed, bare)
      assert.deepEqual(await find(bed), [bare, whole])
    },
    'replaces an entry that comes again': async (bed) => {
      const first = entryOf(bed, 'a', { outcome: 'refused' })
      await write(bed, first)
      await bed.clock.advance(1000)
      await write(bed, { ...first, times: 3, targetName: 'weekly' })
      const found = only(await find(bed))
      assert.equal(found.times, 3)
      assert.equal(found.targetName, 'weekly')
      assert.equal(found.timeMs, first.timeMs)
    },
    'is read with the newest first, a page at a time, also within one instant': async (bed) => {
      await write(bed, entryOf(bed, 'b'), entryOf(bed, 'c'), entryOf(bed, 'A'))
      await bed.clock.advance(1000)
      await write(bed, entryOf(bed, 'd'))
      assert.deepEqual(await ids(bed), ['d', 'c', 'b', 'A'])
      assert.deepEqual(await ids(bed, { take: 1 }), ['d', 'c', 'b', 'A'])
      const page = await bed.store.records?.queryAudit({ take: 4 })
      assert.equal(page?.next, null)
    },
    'is searched by every condition': async (bed) => {
      await write(bed, entryOf(bed, 'a'))
      await bed.clock.advance(1000)
      const middle = new Date(bed.now())
      await write(bed, entryOf(bed, 'b', { by: 'bob', node: 'n2' }))
      await bed.clock.advance(1000)
      await write(
        bed,
        entryOf(bed, 'c', {
          operation: 'jobs.run',
          outcome: 'refused',
          targetGroup: 'mail',
          targetName: null,
        }),
      )
      assert.deepEqual(await ids(bed, { by: 'ann' }), ['c', 'a'])
      assert.deepEqual(await ids(bed, { by: 'ann', take: 1 }), ['c', 'a'])
      assert.deepEqual(await ids(bed, { node: 'n2' }), ['b'])
      assert.deepEqual(await ids(bed, { operation: 'jobs.run' }), ['c'])
      assert.deepEqual(await ids(bed, { outcome: 'done' }), ['b', 'a'])
      assert.deepEqual(await ids(bed, { targetGroup: 'mail' }), ['c'])
      assert.deepEqual(await ids(bed, { targetGroup: 'reports', targetName: 'daily' }), ['b', 'a'])
      assert.deepEqual(await ids(bed, { from: middle }), ['c', 'b'])
      assert.deepEqual(await ids(bed, { to: middle }), ['a'])
      assert.deepEqual(await ids(bed, { by: 'cid' }), [])
    },
    'keeps any text': async (bed) => {
      const odd = `'; DROP TABLE x --\u0000\ud800<script>`
      await write(bed, entryOf(bed, 'a', { by: odd, targetName: odd, afterText: odd }))
      const found = only(await find(bed))
      assert.match(found.by ?? '', /DROP TABLE/)
      assert.match(found.afterText ?? '', /<script>/)
    },
  },
  { records: true },
)
