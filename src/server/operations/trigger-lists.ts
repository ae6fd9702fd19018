import { z } from 'zod'
import { TriggerKey } from '../../core/key.ts'
import {
  type FirePlace,
  type Page,
  queryLimits,
  type TriggerConditions,
  type TriggerSummary,
} from '../../jobstore/queries.ts'
import { type TriggerState, triggerStates } from '../../jobstore/trigger-state.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import type { Access } from '../catalogue/role.ts'
import { instantMs, instantQuery, keyJson, keyToJson, nothing, textUpTo } from '../wire/fields.ts'
import {
  cursorsOf,
  filledPage,
  groupMatcherOf,
  groupQuery,
  pageJson,
  pageQuery,
  visibleTo,
} from '../wire/pages.ts'
import { int32, triggerSummaryJson, triggerSummaryToJson } from '../wire/triggers.ts'
import { jobKeyOf } from './changes.ts'

interface ConditionSchemas {
  readonly jobGroup: z.ZodOptional<z.ZodString>
  readonly jobName: z.ZodOptional<z.ZodString>
  readonly jobType: z.ZodOptional<z.ZodString>
  readonly calendarName: z.ZodOptional<z.ZodString>
  readonly search: z.ZodOptional<z.ZodString>
}

const conditionSchemas: ConditionSchemas = {
  jobGroup: textUpTo(500)
    .min(1)
    .optional()
    .describe('With jobName: of one job; alone: of the jobs of a group.'),
  jobName: textUpTo(500).min(1).optional(),
  jobType: textUpTo(500).optional(),
  calendarName: textUpTo(500).optional(),
  search: textUpTo(queryLimits.searchLength)
    .optional()
    .describe("Part of the name, the group, the description or the job's name; A to Z in either case."),
}

/** Which triggers: what several operations take. */
export const triggerConditionQuery: typeof groupQuery & ConditionSchemas = Object.assign(
  {},
  groupQuery,
  conditionSchemas,
)

export interface TriggerConditionQuery {
  readonly group?: string | undefined
  readonly groupMatch: 'equals' | 'startsWith' | 'endsWith' | 'contains'
  readonly jobGroup?: string | undefined
  readonly jobName?: string | undefined
  readonly jobType?: string | undefined
  readonly calendarName?: string | undefined
  readonly search?: string | undefined
}

/** True unless a job has a name and no group. */
export function namesWholeJob({ jobGroup, jobName }: TriggerConditionQuery): boolean {
  return jobName === undefined || jobGroup !== undefined
}

/** What the store is asked for, of what the principal may see. */
export function conditionsOf(query: TriggerConditionQuery, access: Access): TriggerConditions {
  const { jobGroup, jobName, jobType, calendarName, search } = query
  const visible = visibleTo(access, 'viewer')
  return {
    ...groupMatcherOf(query),
    ...visible,
    ...(jobGroup !== undefined && jobName === undefined && jobGroupsOf(jobGroup, visible.jobGroups)),
    ...(jobGroup !== undefined &&
      jobName !== undefined && { jobKey: jobKeyOf({ group: jobGroup, name: jobName }) }),
    ...(jobType !== undefined && { jobType }),
    ...(calendarName !== undefined && { calendarName }),
    ...(search !== undefined && { search }),
  }
}

function jobGroupsOf(
  group: string,
  visible: readonly string[] | undefined,
): { jobGroups: readonly string[] } {
  return { jobGroups: visible === undefined || visible.includes(group) ? [group] : [] }
}

/** States with commas between them. */
const statesQuery = textUpTo(100)
  .regex(
    new RegExp(`^(?:${triggerStates.join('|')})(?:,(?:${triggerStates.join('|')}))*$`),
    `must be one of ${triggerStates.join(', ')}, or several with commas between them`,
  )
  // Checked just before.
  .transform((text) => text.split(',') as TriggerState[])

const listQuery = z
  .strictObject({
    ...pageQuery,
    ...triggerConditionQuery,
    order: z
      .enum(['key', 'nextFireTime'])
      .default('key')
      .describe('By nextFireTime: only those that are to fire, in the order in which they fire.'),
    state: statesQuery.optional().describe('One state, or several with commas between them.'),
    dueBeforeMs: instantQuery.optional().describe('Only those whose next fire time is before this instant.'),
  })
  .refine(namesWholeJob, { error: 'jobName needs jobGroup' })
  .refine(({ order, state }) => order === 'key' || state === undefined, {
    error: 'order=nextFireTime has the states NORMAL and BLOCKED: leave state out',
  })

type ListCall = OperationCall<unknown, z.output<typeof listQuery>, unknown>

const listTriggers: Operation = operation({
  id: 'triggers.list',
  method: 'GET',
  path: '/triggers',
  summary: 'Lists triggers without their data, by their keys or in the order in which they fire.',
  role: 'viewer',
  reach: null,
  isList: true,
  jobGroups: 'visible',
  params: nothing,
  query: listQuery,
  body: null,
  answer: pageJson(triggerSummaryJson),
  async handle(call) {
    const { items, next } = await (call.query.order === 'key' ? byKey(call) : inFireOrder(call))
    return { items: items.map(triggerSummaryToJson), next }
  },
})

type ListPage = Page<TriggerSummary, string>

async function byKey(call: ListCall): Promise<ListPage> {
  const { scheduler, query, access, parts } = call
  const { take, state, dueBeforeMs } = query
  const { after, next } = cursorsOf('triggers.list', call, keyJson)
  const wanted = {
    ...conditionsOf(query, access),
    ...(state !== undefined && { state }),
    ...(dueBeforeMs !== undefined && { dueBefore: new Date(dueBeforeMs) }),
  }
  const found = await filledPage<TriggerSummary, TriggerKey>(
    (size, from) => scheduler.queryTriggers({ ...wanted, ...(from && { after: from }), take: size }),
    { take, after: after && new TriggerKey(after.name, after.group), clock: parts.clock },
  )
  return { items: found.items, next: next(found.next && keyToJson(found.next)) }
}

const placeJson = z.strictObject({ nextFireTimeMs: instantMs, priority: int32, key: keyJson })

async function inFireOrder(call: ListCall): Promise<ListPage> {
  const { scheduler, query, access, parts } = call
  const { take, dueBeforeMs } = query
  const { after, next } = cursorsOf('triggers.list', call, placeJson)
  const wanted = {
    ...conditionsOf(query, access),
    ...(dueBeforeMs !== undefined && { dueBefore: new Date(dueBeforeMs) }),
  }
  const found = await filledPage<TriggerSummary, FirePlace>(
    (size, from) => scheduler.queryNextTriggers({ ...wanted, ...(from && { after: from }), take: size }),
    {
      take,
      after: after && { ...after, key: new TriggerKey(after.key.name, after.key.group) },
      clock: parts.clock,
    },
  )
  return {
    items: found.items,
    next: next(found.next && { ...found.next, key: keyToJson(found.next.key) }),
  }
}

export const triggerListOperations: readonly Operation[] = [listTriggers]
