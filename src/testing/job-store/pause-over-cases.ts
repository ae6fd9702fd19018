import assert from 'node:assert/strict'
import { TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { endedNow, note, reasonOf } from './pause-note-cases.ts'
import { area, type StoreCase } from './store-case.ts'
import { pausedTriggerGroups } from './stored.ts'
import type { Testbed } from './testbed.ts'

const defaultGroup = GroupMatcher.groupEquals('DEFAULT')

/** Puts a trigger in error by an instruction of another trigger of its job. */
async function failJobOf(bed: Testbed, name: string): Promise<void> {
  const sibling = await bed.schedule('sibling', { everyMs: 1000 })
  await bed.store.pauseTrigger(new TriggerKey(name), note('old', { untilMs: bed.now() + 1000 }))
  await bed.complete(await bed.start('sibling'), 'setAllJobTriggersError')
  await bed.store.deleteTriggers([sibling.key])
}

/** Its pause is over; the trigger is NORMAL or in ERROR by now. */
const waysOut: Readonly<Record<string, (bed: Testbed) => Promise<unknown>>> = {
  'that was replaced': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 1000 })
    await bed.store.pauseTrigger(key, note('old', { untilMs: bed.now() + 1000 }))
    const triggers = [bed.trigger('t', { everyMs: 1000 })]
    await bed.store.scheduleJobs([{ job: null, triggers }], { replace: true })
  },
  'that was in error': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 1000 })
    await failJobOf(bed, 't')
    await bed.store.resetTriggerFromErrorState(key)
  },
}

const ofTriggers = Object.entries(waysOut).map(([what, leave]) =>
  area('pause: over', {
    [`is that of a trigger ${what}, and holds it no more after one of its job`]: async (bed) => {
      await leave(bed)
      assert.equal(await bed.state('t'), 'NORMAL')
      await bed.store.pauseJob(bed.job.key, note('job', { untilMs: bed.now() + 2000 }))
      assert.equal(await reasonOf(bed, 't'), 'job')
      await bed.clock.advance(1000)
      assert.deepEqual(await endedNow(bed), [])
      await bed.clock.advance(1000)
      assert.deepEqual(await endedNow(bed), ['job job'])
      assert.equal(await bed.state('t'), 'NORMAL')
    },
  }),
)

/** Its only trigger was resumed, so the pause of the job is over. */
async function pauseOfJobIsOver(bed: Testbed): Promise<void> {
  const { key } = await bed.schedule('first', { everyMs: 1000 })
  await bed.store.pauseJob(bed.job.key, note('job'))
  await bed.store.resumeTrigger(key)
}

const group = GroupMatcher.groupEquals('g')

const ofJobs = area('pause: over', {
  'is that of a job, and holds no trigger that a group pauses when it is stored': async (bed) => {
    await bed.store.pauseTriggers(group, note('group', { untilMs: bed.now() + 1000 }))
    await pauseOfJobIsOver(bed)
    await bed.schedule('t', { group: 'g', everyMs: 1000 })
    assert.equal(await reasonOf(bed, 't', 'g'), 'group')
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), ['triggerGroup g'])
    assert.equal(await bed.state('t', 'g'), 'NORMAL')
  },
  'is that of a job, and holds no trigger that a group pauses after an error': async (bed) => {
    const { key } = await bed.schedule('t', { group: 'g', everyMs: 1000 })
    await bed.putInError('t')
    await bed.store.pauseTriggers(group, note('group', { untilMs: bed.now() + 1000 }))
    await pauseOfJobIsOver(bed)
    await bed.store.resetTriggerFromErrorState(key)
    assert.equal(await reasonOf(bed, 't', 'g'), 'group')
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), ['triggerGroup g'])
    assert.equal(await bed.state('t', 'g'), 'NORMAL')
  },
})

const ofGroups = area('pause: over', {
  'of a group leaves it paused while everything is, whichever was paused first': async (bed) => {
    for (const name of ['g', 'h']) await bed.schedule('t', { group: name, everyMs: 1000 })
    await bed.store.pauseTriggers(group, note('g', { untilMs: bed.now() + 1000 }))
    await bed.store.pauseAll(note('all', { untilMs: bed.now() + 2000 }))
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('h'), note('h', { untilMs: bed.now() + 1000 }))
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), ['triggerGroup g', 'triggerGroup h'])
    for (const name of ['g', 'h']) {
      assert.equal(await bed.state('t', name), 'PAUSED')
      assert.equal(await reasonOf(bed, 't', name), 'all')
    }
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), ['all'])
    assert.deepEqual(await pausedTriggerGroups(bed.store), [])
    for (const name of ['g', 'h']) assert.equal(await bed.state('t', name), 'NORMAL')
  },
})

const afterErrors = area('pause: of a group', {
  'holds a trigger that goes on after an error, in its place': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 1000 })
    await failJobOf(bed, 't')
    assert.equal(await bed.state('t'), 'ERROR')
    await bed.store.pauseTriggers(defaultGroup, note('group'))
    await bed.store.rescheduleTrigger(key, bed.trigger('t', { everyMs: 1000 }), { goesOnFrom: 'start' })
    assert.equal(await bed.state('t'), 'PAUSED')
    assert.equal(await reasonOf(bed, 't'), 'group')
  },
})

export const pauseOverCases: readonly StoreCase[] = [
  ...ofTriggers.flat(),
  ...ofJobs,
  ...ofGroups,
  ...afterErrors,
]
