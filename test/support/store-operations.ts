import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { FireSlot } from '../../src/jobstore/fire-slot.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import type { PauseTarget } from '../../src/jobstore/pauses.ts'
import { recoverAtStart, recoverInstance } from '../../src/jobstore/sql/cluster/recovery.ts'
import { freeStuckTriggers } from '../../src/jobstore/sql/cluster/stuck-triggers.ts'
import { endPause, lockOfPause } from '../../src/jobstore/sql/programs/scheduling/ending-pauses.ts'
import type { SqlTransactor } from '../../src/jobstore/sql/session/sql-transactor.ts'
import { pausedTriggerGroups, storedCounts } from '../../src/testing/job-store/stored.ts'
import { completionOf, jobDetail, type Testbed } from '../../src/testing/job-store/testbed.ts'
import { WeeklyCalendar } from '../../src/triggers/calendars/weekly-calendar.ts'
import { shardOperations } from './shard-operations.ts'

/** A store with something in it, on which each operation has everything to do that it can have to do. */
export interface Scene {
  readonly bed: Testbed
  readonly transactor: SqlTransactor
}

export interface StoreOperation {
  readonly name: string
  /** Sets the scene; answers the call, which may be made again after it failed. */
  readonly prepare: (scene: Scene) => Promise<() => Promise<unknown>>
  readonly isReading?: true
}

const any = GroupMatcher.anyGroup()
/** Forbids concurrent execution, keeps its data and wants recovery: the most that there is to do. */
export const strictJob: JobDetail = jobDetail('strict', {
  durable: true,
  disallowConcurrentExecution: true,
  persistJobDataAfterExecution: true,
  requestsRecovery: true,
})
const lateMs = -300_000
const freeSlot: FireSlot = { dueByMs: 0, reserve: () => true, release: () => {} }

/** Stored for every operation: late, due, future, paused triggers of jobs of both kinds, and a calendar in use. */
async function populate({ bed }: Scene): Promise<void> {
  const { store } = bed
  await store.addCalendar('week', new WeeklyCalendar(), { replace: false, updateTriggers: false })
  await bed.schedule('due', { everyMs: 10_000, calendar: 'week', misfire: 'ignore' })
  await bed.schedule('late', { inMs: lateMs, everyMs: 1000 })
  await bed.schedule('over', { inMs: lateMs, misfire: 'rescheduleNextWithRemainingCount' })
  await bed.schedule('future', { inMs: 3_600_000, everyMs: 5000, group: 'later' })
  await bed.schedule('strict1', { everyMs: 10_000, job: strictJob, priority: 7 })
  await bed.schedule('strict2', { everyMs: 10_000, job: strictJob, priority: 6 })
  const short = jobDetail('short')
  await bed.schedule('only', { job: short, misfire: 'ignore' })
}

async function fireStrict({ bed }: Scene): Promise<TriggerFiredBundle> {
  await populate({ bed } as Scene)
  const claims = await bed.acquire({ maxCount: 20 })
  const claim = claims.find(({ trigger }) => trigger.key.name === 'strict1')
  if (claim === undefined) throw new Error('strict1 is due')
  await bed.store.releaseAcquiredTriggers(claims.filter((other) => other !== claim))
  return bed.fire(claim)
}

type Call = () => Promise<unknown>
type Make = (scene: Scene) => Call | Promise<Call>

/** An operation on a store that is populated and idle. */
export const idle = (name: string, make: Make, isReading?: true): StoreOperation => ({
  name,
  prepare: async (scene) => {
    await populate(scene)
    return make(scene)
  },
  ...(isReading === undefined ? {} : { isReading }),
})

/** An operation while triggers are claimed and a non-concurrent job runs. */
export const busy = (name: string, make: Make): StoreOperation => ({
  name: `${name} while a job runs`,
  prepare: async (scene) => {
    await fireStrict(scene)
    await scene.bed.acquire()
    return make(scene)
  },
})

const pauseTargets: readonly PauseTarget[] = [
  { scope: 'trigger', key: new TriggerKey('late') },
  { scope: 'job', key: strictJob.key },
  { scope: 'triggerGroup', group: 'DEFAULT' },
  { scope: 'jobGroup', group: 'DEFAULT' },
  { scope: 'all' },
]

const pausing: readonly (readonly [string, Make])[] = [
  [
    'pauseTrigger',
    ({ bed }) =>
      () =>
        bed.store.pauseTrigger(new TriggerKey('strict2')),
  ],
  [
    'pauseTriggers',
    ({ bed }) =>
      () =>
        bed.store.pauseTriggers(any),
  ],
  [
    'pauseJob',
    ({ bed }) =>
      () =>
        bed.store.pauseJob(strictJob.key),
  ],
  [
    'pauseJobs',
    ({ bed }) =>
      () =>
        bed.store.pauseJobs(any),
  ],
  [
    'pauseAll',
    ({ bed }) =>
      () =>
        bed.store.pauseAll(),
  ],
]
const resuming: readonly (readonly [string, Make])[] = [
  [
    'resumeTrigger',
    ({ bed }) =>
      () =>
        bed.store.resumeTrigger(new TriggerKey('late')),
  ],
  [
    'resumeTriggers',
    ({ bed }) =>
      () =>
        bed.store.resumeTriggers(any),
  ],
  [
    'resumeJob',
    ({ bed }) =>
      () =>
        bed.store.resumeJob(strictJob.key),
  ],
  [
    'resumeJobs',
    ({ bed }) =>
      () =>
        bed.store.resumeJobs(any),
  ],
  [
    'resumeAll',
    ({ bed }) =>
      () =>
        bed.store.resumeAll(),
  ],
  [
    'resumeAll without what was missed',
    ({ bed }) =>
      () =>
        bed.store.resumeAll({ withoutMissed: true }),
  ],
  ...pauseTargets.map((target): readonly [string, Make] => [
    `endPause of ${target.scope}`,
    async ({ bed, transactor }) => {
      const untilMs = bed.now() + 1000
      const note = { reason: 'why', by: null, untilMs }
      if (target.scope === 'trigger') await bed.store.pauseTrigger(target.key, note)
      else if (target.scope === 'job') await bed.store.pauseJob(target.key, note)
      else if (target.scope === 'triggerGroup') await bed.store.pauseTriggers(any, note)
      else if (target.scope === 'jobGroup') await bed.store.pauseJobs(any, note)
      else await bed.store.pauseAll(note)
      await bed.clock.advance(1000)
      return () => transactor.run((tx) => endPause(tx, { target, untilMs }), { lock: lockOfPause(target) })
    },
  ]),
  [
    'skipNextFire',
    ({ bed }) =>
      () =>
        bed.store.skipNextFire(new TriggerKey('strict1'), null),
  ],
]

const scheduling: readonly (readonly [string, Make])[] = [
  [
    'scheduleJobs',
    ({ bed }) => {
      const job = jobDetail('new')
      const entry = { job, triggers: [bed.trigger('n1', { job }), bed.trigger('n2', { job, everyMs: 9 })] }
      return () => bed.store.scheduleJobs([entry], { replace: false })
    },
  ],
  [
    'scheduleJobs that replaces',
    ({ bed }) => {
      const job = { ...strictJob, disallowConcurrentExecution: false }
      const triggers = [bed.trigger('only', { job }), bed.trigger('strict2', { job, inMs: 50 })]
      return () => bed.store.scheduleJobs([{ job, triggers }], { replace: true })
    },
  ],
  [
    'scheduleJobs of new jobs and of triggers of stored ones',
    ({ bed }) => {
      const job = jobDetail('new')
      const entries = [
        { job, triggers: [bed.trigger('n1', { job })] },
        { job: jobDetail('awaiting'), triggers: [] },
        {
          job: null,
          triggers: [bed.trigger('strict1', { job: strictJob }), bed.trigger('n2', { job: strictJob })],
        },
      ]
      return () => bed.store.scheduleJobs(entries, { replace: true })
    },
  ],
  [
    'addJob',
    ({ bed }) =>
      () =>
        bed.store.addJob({ ...strictJob, description: 'new' }, { replace: true }),
  ],
  [
    'rescheduleTrigger',
    ({ bed }) => {
      const trigger = bed.trigger('renamed', { everyMs: 77_000, job: strictJob })
      return () => bed.store.rescheduleTrigger(new TriggerKey('strict2'), trigger)
    },
  ],
  [
    'deleteJobs',
    ({ bed }) =>
      () =>
        bed.store.deleteJobs([strictJob.key, bed.job.key]),
  ],
  [
    'deleteTriggers',
    ({ bed }) =>
      () =>
        bed.store.deleteTriggers([new TriggerKey('strict2'), new TriggerKey('only')]),
  ],
  [
    'clear',
    ({ bed }) =>
      () =>
        bed.store.clear(),
  ],
  [
    'changeDefinitions',
    ({ bed }) => {
      const job = jobDetail('made')
      const trigger = bed.trigger('made', { job, everyMs: 60_000 })
      return () =>
        bed.store.changeDefinitions?.({
          calendars: [{ name: 'week', calendar: new WeeklyCalendar({ excludedDays: [2] }) }],
          entries: [{ job, triggers: [trigger] }],
          removedTriggers: [new TriggerKey('only'), new TriggerKey('late')],
          removedJobs: [strictJob.key],
          removedCalendars: ['none'],
        }) ?? Promise.reject(new Error('the store has changeDefinitions'))
    },
  ],
  [
    'addCalendar',
    ({ bed }) => {
      const calendar = new WeeklyCalendar({ excludedDays: [2] })
      return () => bed.store.addCalendar('week', calendar, { replace: true, updateTriggers: true })
    },
  ],
]

const reading: readonly StoreOperation[] = [
  idle(
    'getJob',
    ({ bed }) =>
      () =>
        bed.store.getJob(strictJob.key),
    true,
  ),
  idle(
    'getTrigger',
    ({ bed }) =>
      () =>
        bed.store.getTrigger(new TriggerKey('due')),
    true,
  ),
  idle(
    'getTriggersOfJob',
    ({ bed }) =>
      () =>
        bed.store.getTriggersOfJob(strictJob.key),
    true,
  ),
  idle(
    'queryJobs',
    ({ bed }) =>
      () =>
        bed.store.queryJobs({ take: 10 }),
    true,
  ),
  idle(
    'queryTriggers',
    ({ bed }) =>
      () =>
        bed.store.queryTriggers({ take: 10 }),
    true,
  ),
  idle(
    'queryNextTriggers',
    ({ bed }) =>
      () =>
        bed.store.queryNextTriggers({ take: 10, search: 'a' }),
    true,
  ),
  idle(
    'getJobs',
    ({ bed }) =>
      () =>
        bed.store.getJobs([new JobKey('due')]),
    true,
  ),
  idle(
    'getTriggers',
    ({ bed }) =>
      () =>
        bed.store.getTriggers([new TriggerKey('due')]),
    true,
  ),
  idle(
    'getTriggerCounts',
    ({ bed }) =>
      () =>
        bed.store.getTriggerCounts(),
    true,
  ),
  idle(
    'getGroupCounts',
    ({ bed }) =>
      () =>
        bed.store.getGroupCounts('jobs'),
    true,
  ),
  idle(
    'getJobKeys',
    ({ bed }) =>
      () =>
        bed.store.getJobKeys(any),
    true,
  ),
  idle(
    'getTriggerState',
    ({ bed }) =>
      () =>
        bed.store.getTriggerState(new TriggerKey('due')),
    true,
  ),
  idle(
    'listings that count',
    ({ bed }) =>
      () =>
        storedCounts(bed.store),
    true,
  ),
  idle(
    'getCalendar',
    ({ bed }) =>
      () =>
        bed.store.getCalendar('week'),
    true,
  ),
  idle(
    'getPausedGroups',
    ({ bed }) =>
      () =>
        pausedTriggerGroups(bed.store),
    true,
  ),
]

const instructions = [
  'noop',
  'reExecuteJob',
  'deleteTrigger',
  'setTriggerComplete',
  'setAllJobTriggersComplete',
  'setTriggerError',
  'setAllJobTriggersError',
] as const

const completing: readonly StoreOperation[] = instructions.map((instruction) => ({
  name: `triggeredJobsComplete with ${instruction}, data and a retry`,
  prepare: async (scene) => {
    const { bed } = scene
    const bundle = await fireStrict(scene)
    const retryTrigger = bed.trigger('again', { group: 'RETRYING_JOBS', job: strictJob, inMs: 5000 })
    const completion = completionOf(bundle, instruction, { jobDataMap: { count: 1 }, retryTrigger })
    return () => bed.store.triggeredJobsComplete([completion])
  },
}))

const firing: readonly StoreOperation[] = [
  ...shardOperations,
  {
    name: 'deleteCalendar',
    prepare: async ({ bed }) => {
      await bed.store.addCalendar('idle', new WeeklyCalendar(), { replace: false, updateTriggers: false })
      return () => bed.store.deleteCalendar('idle')
    },
  },
  idle(
    'acquireNextTriggers',
    ({ bed }) =>
      () =>
        bed.acquire({ maxCount: 20 }),
  ),
  idle(
    'acquireAndFire',
    ({ bed }) =>
      () =>
        bed.acquireAndFire({ maxCount: 20 }),
  ),
  idle('scheduleAndFire', ({ bed }) => {
    const job = jobDetail('new')
    const entry = { job, triggers: [bed.trigger('once', { job })] }
    return async () => bed.store.scheduleAndFire?.(entry, freeSlot)
  }),
  idle('scheduleAndFire, a job that exists', ({ bed }) => {
    const entry = { job: null, triggers: [bed.trigger('once')] }
    return async () => bed.store.scheduleAndFire?.(entry, freeSlot)
  }),
  {
    name: 'triggersFired',
    prepare: async (scene) => {
      await populate(scene)
      const claims = await scene.bed.acquire({ maxCount: 20 })
      return () => scene.bed.store.triggersFired(claims)
    },
  },
  {
    name: 'releaseAcquiredTriggers',
    prepare: async (scene) => {
      await populate(scene)
      const claims = await scene.bed.acquire({ maxCount: 20 })
      return () => scene.bed.store.releaseAcquiredTriggers(claims)
    },
  },
  busy(
    'releaseAllAcquiredTriggers',
    ({ bed }) =>
      () =>
        bed.store.releaseAllAcquiredTriggers(),
  ),
  ...completing,
  {
    name: 'resetTriggerFromErrorState',
    prepare: async (scene) => {
      await scene.bed.complete(await fireStrict(scene), 'setAllJobTriggersError')
      return () => scene.bed.store.resetTriggerFromErrorState(new TriggerKey('strict1'))
    },
  },
  busy('the recovery of a failed node', ({ bed, transactor }) => () => {
    const recover = transactor.run((tx) => recoverInstance(tx, bed.context.instanceId), { lock: 'cluster' })
    return recover
  }),
  busy('the recovery at the start', ({ transactor }) => () => {
    return transactor.run(recoverAtStart, { lock: 'cluster' })
  }),
  {
    name: 'the search for stuck triggers',
    prepare: async (scene) => {
      await fireStrict(scene)
      const { transactor } = scene
      await transactor.run((tx) => tx.session.firedTriggers.deleteAll(), { lock: 'cluster' })
      return () => transactor.run(freeStuckTriggers, { lock: 'cluster' })
    },
  },
]

/** Every operation that a scheduler asks of a store, and those that a node does by itself. */
export const storeOperations: readonly StoreOperation[] = [
  ...[...scheduling, ...pausing].flatMap(([name, make]) => [idle(name, make), busy(name, make)]),
  ...resuming.map(
    ([name, make]): StoreOperation => ({
      name,
      prepare: async (scene) => {
        await populate(scene)
        await scene.bed.store.pauseJobs(any)
        await scene.bed.store.pauseAll()
        return make(scene)
      },
    }),
  ),
  ...firing,
  ...reading,
]
