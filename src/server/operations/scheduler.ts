import { z } from 'zod'
import { GroupMatcher } from '../../core/matcher.ts'
import { isAttached } from '../../health/scheduler-health.ts'
import type { Pause, PausedGroup } from '../../jobstore/pauses.ts'
import type { GroupCount, TriggerQuery } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { refuseAttached, seesNodes } from '../attachment.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import type { Access } from '../catalogue/role.ts'
import type { ServerParts } from '../server-parts.ts'
import { plainActionJson } from '../wire/action.ts'
import { groupPath, nothing } from '../wire/fields.ts'
import {
  isReplacingPause,
  pauseBody,
  pauseJson,
  pauseOptionsOf,
  requireLater,
  resumeBody,
} from '../wire/pauses.ts'
import { type SchedulerJson, schedulerJson } from '../wire/runs.ts'
import { change, isAnyIn, statesBefore } from './changes.ts'

const getScheduler: Operation = operation({
  id: 'scheduler.get',
  method: 'GET',
  path: '/scheduler',
  summary: 'What the scheduler is and does, as the node that was asked knows it.',
  role: 'viewer',
  reach: null,
  jobGroups: 'visible',
  params: nothing,
  query: nothing,
  body: null,
  answer: schedulerJson,
  handle: async ({ scheduler, access, parts }) => schedulerToJson(scheduler, access, parts),
})

export async function schedulerToJson(
  scheduler: Scheduler,
  access: Access,
  { clock, health }: ServerParts,
): Promise<SchedulerJson> {
  const ready = await health.get(scheduler.schedulerName)?.ready()
  const { isStarted, isShutdown, runningSince, ...rest } = scheduler.getMetaData()
  const attached = isAttached(scheduler)
  // What a node has run of each group is not counted.
  const isCounted = !attached && access.has('viewer')
  return {
    schedulerName: rest.schedulerName,
    schedulerInstanceId: rest.schedulerInstanceId,
    version: rest.version,
    status: isShutdown ? 'shutdown' : isStarted ? 'started' : attached ? 'attached' : 'standby',
    runningSinceMs: runningSince?.getTime() ?? null,
    numberOfJobsExecuted: isCounted ? rest.numberOfJobsExecuted : null,
    jobStore: rest.jobStore,
    jobStorePersistent: rest.jobStorePersistent,
    jobStoreClustered: rest.jobStoreClustered,
    threadPool: rest.threadPool,
    threadPoolSize: rest.threadPoolSize,
    notReady: ready?.reasons.map(({ code }) => code) ?? [],
    nowMs: clock.now(),
  }
}

interface Steering<Body> {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly role: 'operator' | 'admin'
  readonly reach: 'data' | 'node'
  readonly wouldChange: (scheduler: Scheduler, body: Body) => boolean | Promise<boolean>
  readonly body: z.ZodType<Body> | null
  readonly carryOut: (scheduler: Scheduler, call: OperationCall<unknown, unknown, Body>) => Promise<void>
}

function steerScheduler<Body>({ wouldChange, carryOut, ...described }: Steering<Body>): Operation {
  return operation({
    ...described,
    method: 'POST',
    jobGroups: null,
    params: nothing,
    query: nothing,
    answer: plainActionJson,
    async handle(call) {
      const { scheduler } = call
      requireLater(call.body, call.parts.clock.now())
      if (described.reach === 'node') refuseAttached(scheduler)
      const changes = await wouldChange(scheduler, call.body)
      return change(call, described.reach, {
        wouldChange: () => changes,
        async carryOut() {
          // A start or a standby is of this process first, and then of what its plugins do.
          if (described.reach === 'node') call.exchange.noteBegun()
          // What is stored meanwhile is to be paused as well.
          if (changes || described.reach === 'data') await carryOut(scheduler, call)
          return changes
        },
        result: null,
      })
    },
  })
}

interface GroupVerb<Body> {
  readonly kind: 'job' | 'trigger'
  readonly verb: 'pause' | 'resume'
  readonly body: z.ZodType<Body>
  /** Whether it changes something besides states and marks. */
  readonly changesAlso?: (body: Body) => boolean
  readonly carryOut: (
    call: OperationCall<unknown, unknown, Body>,
    group: GroupMatcher,
  ) => Promise<readonly string[]>
}

function steerGroup<Body>({ kind, verb, body, changesAlso, carryOut }: GroupVerb<Body>): Operation {
  const [does, also] = verb === 'pause' ? ['Pauses', 'is paused'] : ['Resumes', 'is resumed']
  return operation({
    id: `${kind}Groups.${verb}`,
    method: 'POST',
    path: `/${kind}-groups/{group}/${verb}`,
    summary: `${does} a group of ${kind}s; what is stored in it later ${also} as well.`,
    role: 'operator',
    reach: 'data',
    jobGroups: kind === 'job' ? async ({ params }) => [params.group] : null,
    params: groupPath,
    query: nothing,
    body,
    answer: plainActionJson,
    async handle(call) {
      const { scheduler, params, parts } = call
      requireLater(call.body, parts.clock.now())
      const paused = await pausedGroups(scheduler, kind)
      const changes =
        paused.includes(params.group) === (verb === 'resume') ||
        changesAlso?.(call.body) === true ||
        (await isAnyIn(scheduler, { ...ofGroup(kind, params.group), state: statesBefore[verb] }))
      return change(call, 'data', {
        wouldChange: () => changes,
        async carryOut() {
          await carryOut(call, GroupMatcher.groupEquals(params.group))
          return changes
        },
        result: null,
      })
    },
  })
}

function ofGroup(kind: 'job' | 'trigger', group: string): TriggerQuery {
  return kind === 'job' ? { jobGroups: [group] } : { group: GroupMatcher.groupEquals(group) }
}

function pausedGroups(scheduler: Scheduler, kind: 'job' | 'trigger'): Promise<readonly string[]> {
  return kind === 'job' ? scheduler.getPausedJobGroups() : scheduler.getPausedTriggerGroups()
}

export interface GroupJson {
  readonly name: string
  readonly isPaused: boolean
  readonly isEmpty: boolean
  /** Why it is paused, as far as that is known. */
  readonly pause: Pause | null
  readonly count: number
}

export interface JobGroupJson extends GroupJson {
  /** How many of its jobs may be claimed or executing at once; null for no limit, and where limits are not known. */
  readonly limit: number | null
  /** How many executions of its jobs are in flight, on every node; null where that is not known. */
  readonly executing: number | null
}

export interface GroupsJson {
  readonly jobGroups: readonly JobGroupJson[]
  readonly triggerGroups: readonly GroupJson[]
  /** Whether the limits of job groups are known: nodes alone have them. */
  readonly knowsLimits: boolean
}

const groupJson = {
  name: z.string(),
  isPaused: z.boolean(),
  isEmpty: z
    .boolean()
    .describe('Nothing is in it: only that it is paused is stored, or that it has a limit.'),
  pause: pauseJson.nullable().describe('Why it is paused, as far as that is known.'),
  count: z
    .number()
    .describe(
      'How many jobs, or triggers, are in it; an answer is used again for as long as 100 looks take.',
    ),
}
const allGroupsJson: z.ZodType<GroupsJson> = z.strictObject({
  jobGroups: z.array(
    z.strictObject({
      ...groupJson,
      limit: z
        .number()
        .nullable()
        .describe(
          'How many of its jobs the node that was asked lets run at once; null for no limit, and without knowsLimits.',
        ),
      executing: z
        .number()
        .nullable()
        .describe(
          'How many executions of its jobs are in flight, on every node; null where that is not known.',
        ),
    }),
  ),
  triggerGroups: z.array(z.strictObject(groupJson)),
  knowsLimits: z
    .boolean()
    .describe('False where the server is attached to the data of others: nodes alone have the limits.'),
})

const listGroups: Operation = operation({
  id: 'groups.list',
  method: 'GET',
  path: '/groups',
  summary: 'The groups of jobs and of triggers; also empty ones that are paused or have a limit.',
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: allGroupsJson,
  async handle({ scheduler, parts }) {
    const { jobs, triggers } = await parts.groupCounts.of(scheduler)
    const paused = await scheduler.getPausedGroups()
    const knowsLimits = !isAttached(scheduler)
    const limits = new Map(knowsLimits ? Object.entries(scheduler.getMetaData().jobGroupLimits) : [])
    const isExecutingKnown = seesNodes(scheduler)
    const executing = new Map<string, number>()
    for (const { jobKey } of await scheduler.cluster.executingJobs())
      executing.set(jobKey.group, (executing.get(jobKey.group) ?? 0) + 1)
    return {
      jobGroups: groupsOf(jobs, paused.jobGroups, limits.keys()).map((group) => ({
        ...group,
        limit: limits.get(group.name) ?? null,
        executing: isExecutingKnown ? (executing.get(group.name) ?? 0) : null,
      })),
      triggerGroups: groupsOf(triggers, paused.triggerGroups),
      knowsLimits,
    }
  },
})

function groupsOf(
  counts: readonly GroupCount[],
  paused: readonly PausedGroup[],
  others: Iterable<string> = [],
): GroupJson[] {
  const pauses = new Map(paused.map(({ group, pause }) => [group, pause]))
  const members = new Map(counts.map(({ group, count }) => [group, count]))
  return [...new Set([...members.keys(), ...pauses.keys(), ...others])].sort().map((name) => ({
    name,
    isPaused: pauses.has(name),
    isEmpty: !members.has(name),
    pause: pauses.get(name) ?? null,
    count: members.get(name) ?? 0,
  }))
}

export const schedulerOperations: readonly Operation[] = [
  getScheduler,
  steerScheduler({
    id: 'scheduler.start',
    path: '/scheduler/start',
    summary: 'Starts the node that was asked: it fires triggers.',
    role: 'admin',
    reach: 'node',
    wouldChange: ({ isStarted }) => !isStarted,
    body: null,
    carryOut: (scheduler) => scheduler.start(),
  }),
  steerScheduler({
    id: 'scheduler.standby',
    path: '/scheduler/standby',
    summary:
      'Puts the node that was asked in standby: it fires nothing until it is started; running jobs go on.',
    role: 'admin',
    reach: 'node',
    wouldChange: ({ isStarted }) => isStarted,
    body: null,
    carryOut: (scheduler) => scheduler.standby(),
  }),
  steerScheduler({
    id: 'scheduler.pauseAll',
    path: '/scheduler/pause-all',
    summary: 'Pauses all triggers, and those that are stored later.',
    role: 'operator',
    reach: 'data',
    async wouldChange(scheduler, body) {
      const { everyNewTriggerGroup } = await scheduler.getPausedGroups()
      if (!everyNewTriggerGroup || isReplacingPause(body)) return true
      return isAnyIn(scheduler, { state: statesBefore.pause })
    },
    body: pauseBody,
    carryOut: (scheduler, { body, access }) =>
      scheduler.pauseAll(pauseOptionsOf(body, access.principal.name)),
  }),
  steerScheduler({
    id: 'scheduler.resumeAll',
    path: '/scheduler/resume-all',
    summary: 'Resumes all triggers.',
    role: 'operator',
    reach: 'data',
    async wouldChange(scheduler) {
      const { everyNewTriggerGroup, triggerGroups, jobGroups } = await scheduler.getPausedGroups()
      if (everyNewTriggerGroup || triggerGroups.length > 0 || jobGroups.length > 0) return true
      return isAnyIn(scheduler, { state: statesBefore.resume })
    },
    body: resumeBody,
    carryOut: (scheduler, { body }) => scheduler.resumeAll(body),
  }),
  listGroups,
  steerGroup({
    kind: 'job',
    verb: 'pause',
    body: pauseBody,
    changesAlso: isReplacingPause,
    carryOut: ({ scheduler, body, access }, group) =>
      scheduler.pauseJobs(group, pauseOptionsOf(body, access.principal.name)),
  }),
  steerGroup({
    kind: 'job',
    verb: 'resume',
    body: resumeBody,
    carryOut: ({ scheduler, body }, group) => scheduler.resumeJobs(group, body),
  }),
  steerGroup({
    kind: 'trigger',
    verb: 'pause',
    body: pauseBody,
    changesAlso: isReplacingPause,
    carryOut: ({ scheduler, body, access }, group) =>
      scheduler.pauseTriggers(group, pauseOptionsOf(body, access.principal.name)),
  }),
  steerGroup({
    kind: 'trigger',
    verb: 'resume',
    body: resumeBody,
    carryOut: ({ scheduler, body }, group) => scheduler.resumeTriggers(group, body),
  }),
]
