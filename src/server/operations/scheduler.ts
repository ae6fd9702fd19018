import { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { GroupCount } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import { plainActionJson } from '../wire/action.ts'
import { groupPath, nothing } from '../wire/fields.ts'
import { type SchedulerJson, schedulerJson } from '../wire/runs.ts'
import { change } from './changes.ts'

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
  handle: async ({ scheduler, parts }) => schedulerToJson(scheduler, parts.clock.now()),
})

export function schedulerToJson(scheduler: Scheduler, nowMs: number): SchedulerJson {
  const { started, shutdown, runningSince, ...rest } = scheduler.getMetaData()
  return {
    schedulerName: rest.schedulerName,
    schedulerInstanceId: rest.schedulerInstanceId,
    version: rest.version,
    status: shutdown ? 'shutdown' : started ? 'started' : isAttached(scheduler) ? 'attached' : 'standby',
    runningSinceMs: runningSince?.getTime() ?? null,
    numberOfJobsExecuted: rest.numberOfJobsExecuted,
    jobStore: rest.jobStore,
    jobStorePersistent: rest.jobStorePersistent,
    jobStoreClustered: rest.jobStoreClustered,
    threadPool: rest.threadPool,
    threadPoolSize: rest.threadPoolSize,
    nowMs,
  }
}

/** Only looks at the data of others: it has no threads and was never started. */
function isAttached(scheduler: Scheduler): boolean {
  const { threadPoolSize, runningSince } = scheduler.getMetaData()
  return threadPoolSize === 0 && runningSince === null
}

interface Steering {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly role: 'operator' | 'admin'
  readonly reach: 'data' | 'node'
  readonly wouldChange: (scheduler: Scheduler) => boolean
  readonly carryOut: (scheduler: Scheduler) => Promise<void>
}

function steerScheduler({ wouldChange, carryOut, ...described }: Steering): Operation {
  return operation({
    ...described,
    method: 'POST',
    jobGroups: null,
    params: nothing,
    query: nothing,
    body: null,
    answer: plainActionJson,
    async handle(call: OperationCall<unknown, unknown, unknown>) {
      const { scheduler } = call
      if (described.reach === 'node') refuseAttached(scheduler)
      const changes = wouldChange(scheduler)
      return change(call, described.reach, {
        wouldChange: () => changes,
        async carryOut() {
          if (changes) await carryOut(scheduler)
          return changes
        },
        result: null,
      })
    },
  })
}

function refuseAttached(scheduler: Scheduler): void {
  if (!isAttached(scheduler)) return
  throw new SchedulerError(
    'ERR_SCHEDULER_STATE',
    'This server is attached to the data of other nodes and fires nothing itself: start and stop those nodes.',
  )
}

interface GroupVerb {
  readonly kind: 'job' | 'trigger'
  readonly verb: 'pause' | 'resume'
  readonly carryOut: (scheduler: Scheduler, group: GroupMatcher) => Promise<readonly string[]>
}

function steerGroup({ kind, verb, carryOut }: GroupVerb): Operation {
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
    body: null,
    answer: plainActionJson,
    async handle(call) {
      const { scheduler, params } = call
      const paused = await pausedGroups(scheduler, kind)
      const changes = paused.includes(params.group) === (verb === 'resume')
      return change(call, 'data', {
        wouldChange: () => changes,
        async carryOut() {
          await carryOut(scheduler, GroupMatcher.groupEquals(params.group))
          return changes
        },
        result: null,
      })
    },
  })
}

function pausedGroups(scheduler: Scheduler, kind: 'job' | 'trigger'): Promise<readonly string[]> {
  return kind === 'job' ? scheduler.getPausedJobGroups() : scheduler.getPausedTriggerGroups()
}

export interface GroupJson {
  readonly name: string
  readonly isPaused: boolean
  readonly isEmpty: boolean
  readonly count: number
}

export interface GroupsJson {
  readonly jobGroups: readonly GroupJson[]
  readonly triggerGroups: readonly GroupJson[]
}

const groupsJson = z.array(
  z.strictObject({
    name: z.string(),
    isPaused: z.boolean(),
    isEmpty: z.boolean().describe('Nothing is in it: only that it is paused is stored.'),
    count: z.number().describe('How many jobs, or triggers, are in it.'),
  }),
)
const allGroupsJson: z.ZodType<GroupsJson> = z.strictObject({
  jobGroups: groupsJson,
  triggerGroups: groupsJson,
})

const listGroups: Operation = operation({
  id: 'groups.list',
  method: 'GET',
  path: '/groups',
  summary: 'The groups of jobs and of triggers; also those that are paused and empty.',
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: allGroupsJson,
  async handle({ scheduler }) {
    const jobs = await scheduler.getGroupCounts('jobs')
    const triggers = await scheduler.getGroupCounts('triggers')
    return {
      jobGroups: groupsOf(jobs, await scheduler.getPausedJobGroups()),
      triggerGroups: groupsOf(triggers, await scheduler.getPausedTriggerGroups()),
    }
  },
})

function groupsOf(counts: readonly GroupCount[], paused: readonly string[]): GroupJson[] {
  const isPaused = new Set(paused)
  const members = new Map(counts.map(({ group, count }) => [group, count]))
  return [...new Set([...members.keys(), ...paused])].sort().map((name) => ({
    name,
    isPaused: isPaused.has(name),
    isEmpty: !members.has(name),
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
    carryOut: (scheduler) => scheduler.standby(),
  }),
  steerScheduler({
    id: 'scheduler.pauseAll',
    path: '/scheduler/pause-all',
    summary: 'Pauses all triggers, and those that are stored later.',
    role: 'operator',
    reach: 'data',
    wouldChange: () => true,
    carryOut: (scheduler) => scheduler.pauseAll(),
  }),
  steerScheduler({
    id: 'scheduler.resumeAll',
    path: '/scheduler/resume-all',
    summary: 'Resumes all triggers.',
    role: 'operator',
    reach: 'data',
    wouldChange: () => true,
    carryOut: (scheduler) => scheduler.resumeAll(),
  }),
  listGroups,
  steerGroup({ kind: 'job', verb: 'pause', carryOut: (scheduler, group) => scheduler.pauseJobs(group) }),
  steerGroup({ kind: 'job', verb: 'resume', carryOut: (scheduler, group) => scheduler.resumeJobs(group) }),
  steerGroup({
    kind: 'trigger',
    verb: 'pause',
    carryOut: (scheduler, group) => scheduler.pauseTriggers(group),
  }),
  steerGroup({
    kind: 'trigger',
    verb: 'resume',
    carryOut: (scheduler, group) => scheduler.resumeTriggers(group),
  }),
]
