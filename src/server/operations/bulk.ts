import { z } from 'zod'
import { InvalidArgumentError, SchedulerError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import { type JobSummary, queryLimits, type TriggerSummary } from '../../jobstore/queries.ts'
import { triggerStates } from '../../jobstore/trigger-state.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { BulkJson } from '../bulk/bulk-runs.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import type { Access, Role } from '../catalogue/role.ts'
import { digestOf } from '../http/preconditions.ts'
import { actionJson, plainActionJson } from '../wire/action.ts'
import {
  instantMs,
  instantOrNull,
  type KeyJson,
  keyJson,
  keyToJson,
  nothing,
  textUpTo,
} from '../wire/fields.ts'
import { eachOf, groupMatcherOf, groupQuery, visibleTo } from '../wire/pages.ts'
import { pauseBody, requireLater, resumeBody } from '../wire/pauses.ts'
import { type BulkAction, bulkActions, carryOut, tellEnd } from './bulk-objects.ts'
import { change, pausedRuns } from './changes.ts'

const roleOf: Readonly<Record<BulkAction, Role>> = {
  pause: 'operator',
  resume: 'operator',
  run: 'operator',
  delete: 'admin',
}

/** How many objects one action is about at most. */
const objectsMax = 10_000

const bulkJson: z.ZodType<BulkJson> = z.strictObject({
  id: z.string(),
  scheduler: z.string(),
  action: z.string(),
  of: z.enum(['jobs', 'triggers']),
  by: z.string(),
  status: z.enum(['running', 'done', 'stopped']),
  startedMs: instantMs,
  endedMs: instantOrNull,
  total: z.number(),
  done: z.number(),
  changed: z.number(),
  paused: z.number().describe('How many of the runs wait, since groups of them or everything is paused.'),
  failed: z.number(),
  failures: z.array(z.strictObject({ key: keyJson, message: z.string() })),
})

const request = z.strictObject({
  action: z.enum(bulkActions),
  of: z.enum(['jobs', 'triggers']),
  filter: z
    .strictObject({
      ...groupQuery,
      search: textUpTo(queryLimits.searchLength).optional().describe('As in the lists.'),
      jobType: textUpTo(500).optional(),
      state: z.enum(triggerStates).optional().describe('Of triggers.'),
      calendarName: textUpTo(500).optional().describe('Of triggers.'),
    })
    .prefault({}),
  pause: pauseBody.default({ reason: null, untilMs: null }).describe('Of the action pause.'),
  resume: resumeBody.default({ withoutMissed: false }).describe('Of the action resume.'),
  expected: z
    .int()
    .min(0)
    .nullable()
    .default(null)
    .describe('How many a dry run has counted; when there are more or fewer by now, nothing is done.'),
  digest: textUpTo(100)
    .nullable()
    .default(null)
    .describe('What a dry run answered: 412, and nothing is done, when others fit by now, also as many.'),
})
type BulkRequest = z.output<typeof request>

const beginBulk: Operation = operation({
  id: 'bulk.begin',
  method: 'POST',
  path: '/bulk',
  summary:
    'Does something to all jobs or triggers that fit a filter, in the server; a dry run says how many they are.',
  role: 'operator',
  reach: 'data',
  jobGroups: 'visible',
  params: nothing,
  query: nothing,
  body: request,
  answer: actionJson(
    z.strictObject({
      count: z.number(),
      digest: z.string().describe('Of their keys: send it back to do it to these and no others.'),
      first: z.array(keyJson).describe('The first of them, at most 20.'),
      paused: z.number().describe('How many runs of the action run wait until what is paused is resumed.'),
      bulk: bulkJson.nullable().describe('Null in a dry run.'),
    }),
  ),
  async handle(call) {
    const { scheduler, body, access, parts } = call
    requireRole(body.action, access)
    if (body.action === 'pause') requireLater(body.pause, parts.clock.now(), 'pause.untilMs')
    const found = await allOf(scheduler, body, access)
    const keys = found.map(({ key }) => key)
    const listed = { count: keys.length, digest: digestOf(keys) }
    requireExpected(body, listed, call.isDryRun)
    const isPaused = body.action === 'run' ? await pausedRuns(scheduler) : () => false
    const paused = found.filter(({ jobGroup }) => isPaused(jobGroup)).length
    const bulk = call.isDryRun
      ? null
      : parts.bulk.begin({
          scheduler: scheduler.schedulerName,
          action: body.action,
          of: body.of,
          by: access.principal.name,
          keys,
          listeners: scheduler.listenerManager,
          carryOut: (key, id) => carryOut(call, key, id),
          onEnd: (state) => {
            parts.overviews.forget(scheduler)
            parts.groupCounts.forget(scheduler)
            tellEnd(call, state)
          },
        })
    return change(call, 'data', {
      wouldChange: () => keys.length > 0,
      carryOut: async () => keys.length > 0,
      result: { ...listed, first: keys.slice(0, 20), paused, bulk },
    })
  },
})

/**
 * Nothing to do and not allowed to do it are two answers.
 *
 * @throws SchedulerError ERR_NOT_ALLOWED for who holds the role of the action on no job group
 */
function requireRole(action: BulkAction, access: Access): void {
  const role = roleOf[action]
  if (access.hasSomewhere(role)) return
  throw new SchedulerError(
    'ERR_NOT_ALLOWED',
    `'bulk.begin' needs the role ${role} for the action '${action}'.`,
  )
}

/** @throws InvalidArgumentError for another number; SchedulerError ERR_CHANGED_MEANWHILE for others */
function requireExpected(
  { expected, digest }: BulkRequest,
  now: { readonly count: number; readonly digest: string },
  isDryRun: boolean,
): void {
  const { count } = now
  if (expected !== null && expected !== count) {
    const message = `There are ${count} by now, and not ${expected}: nothing was done.`
    throw new InvalidArgumentError('expected', message)
  }
  if (digest !== null && digest !== now.digest) {
    throw new SchedulerError(
      'ERR_CHANGED_MEANWHILE',
      'Others fit by now than a dry run listed: nothing was done. Look again, and decide anew.',
    )
  }
  if (isDryRun || expected !== null || digest !== null) return
  throw new InvalidArgumentError(
    'expected',
    `Say with 'expected' how many they are: ${count} now. A dry run counts them.`,
  )
}

/** A job or a trigger, and the group of the job. */
interface Found {
  readonly key: KeyJson
  readonly jobGroup: string
}

async function allOf(scheduler: Scheduler, body: BulkRequest, access: Access): Promise<readonly Found[]> {
  const { of, action, filter } = body
  const found: Found[] = []
  const collect = (key: KeyJson, jobGroup: string): void => {
    found.push({ key: keyToJson(key), jobGroup })
    if (found.length > objectsMax) {
      throw new InvalidArgumentError('filter', `More than ${objectsMax} ${of} fit: narrow the filter.`)
    }
  }
  const { state, calendarName, jobType, search } = filter
  if (of === 'jobs' && (state !== undefined || calendarName !== undefined)) {
    const field = `filter.${state === undefined ? 'calendarName' : 'state'}`
    throw new InvalidArgumentError(field, `'${field}' is of triggers: say "of": "triggers".`)
  }
  const wanted = {
    ...groupMatcherOf(filter),
    ...visibleTo(access, roleOf[action]),
    ...(jobType !== undefined && { jobType }),
    ...(search !== undefined && { search }),
    take: 1000,
  }
  if (of === 'jobs') {
    await eachOf<JobSummary, JobKey>(
      (after) => scheduler.queryJobs({ ...wanted, ...(after !== null && { after }) }),
      ({ key }) => {
        collect(key, key.group)
      },
    )
  } else {
    const ofTriggers = {
      ...wanted,
      ...(state !== undefined && { state }),
      ...(calendarName !== undefined && { calendarName }),
    }
    await eachOf<TriggerSummary, TriggerKey>(
      (after) => scheduler.queryTriggers({ ...ofTriggers, ...(after !== null && { after }) }),
      ({ key, jobKey }) => {
        collect(key, jobKey.group)
      },
    )
  }
  return found
}

const idPath = z.strictObject({ id: textUpTo(100).min(1) })

const listBulk: Operation = operation({
  id: 'bulk.list',
  method: 'GET',
  path: '/bulk',
  summary: 'The last bulk actions of this server, newest first.',
  role: 'viewer',
  reach: null,
  isServerWide: true,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: z.strictObject({ items: z.array(bulkJson) }),
  handle: async ({ parts }) => ({ items: [...parts.bulk.all()] }),
})

const getBulk: Operation = operation({
  id: 'bulk.get',
  method: 'GET',
  path: '/bulk/{id}',
  summary: 'How far a bulk action has come.',
  role: 'operator',
  reach: null,
  isServerWide: true,
  jobGroups: 'visible',
  params: idPath,
  query: nothing,
  body: null,
  answer: bulkJson,
  handle: async (call) => ownBulk(call),
})

const stopBulk: Operation = operation({
  id: 'bulk.stop',
  method: 'POST',
  path: '/bulk/{id}/stop',
  summary: 'Stops a bulk action; what it has done stays done.',
  role: 'operator',
  reach: 'node',
  isServerWide: true,
  jobGroups: 'visible',
  params: idPath,
  query: nothing,
  body: null,
  answer: plainActionJson,
  async handle(call) {
    const { id, status } = ownBulk(call)
    return change(call, 'node', {
      wouldChange: () => status === 'running',
      carryOut: async () => call.parts.bulk.stop(id),
      result: null,
    })
  },
})

/** Somebody else's needs the role on everything. */
function ownBulk({
  params,
  parts,
  access,
}: OperationCall<{ readonly id: string }, unknown, unknown>): BulkJson {
  const bulk = parts.bulk.get(params.id)
  if (bulk.by === access.principal.name || access.has('operator')) return bulk
  return parts.bulk.get('')
}

export const bulkOperations: readonly Operation[] = [beginBulk, listBulk, getBulk, stopBulk]
