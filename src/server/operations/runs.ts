import { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import type { ExecutingJob } from '../../jobstore/cluster-view.ts'
import type { ExecutionCursor, ExecutionSummary } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { refuseBlind, seesNodes } from '../attachment.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { plainActionJson } from '../wire/action.ts'
import { instantMs, nothing, textUpTo, wholeQuery } from '../wire/fields.ts'
import { cursorsOf, filteredPage, pageJson, pageQuery, windowOf, windowQuery } from '../wire/pages.ts'
import {
  executingJson,
  executingToJson,
  executionDetailsJson,
  executionDetailsToJson,
  executionJson,
  executionToJson,
  logLineJson,
  logLineToJson,
  seenJson,
} from '../wire/runs.ts'
import { change } from './changes.ts'
import { type ExecutionFilter, parseExecutionFilter } from './execution-filter.ts'

const listExecuting: Operation = operation({
  id: 'executing.list',
  method: 'GET',
  path: '/executing',
  summary: 'The executions in flight, on every node.',
  role: 'viewer',
  reach: null,
  isList: true,
  jobGroups: 'visible',
  params: nothing,
  query: z.strictObject({ format: pageQuery.format }),
  body: null,
  answer: seenJson(executingJson),
  async handle({ scheduler, access }) {
    const executing = await scheduler.cluster.executingJobs()
    return {
      items: executing.filter(({ jobKey }) => access.hasOn(jobKey.group, 'viewer')).map(executingToJson),
      isWhole: seesNodes(scheduler),
    }
  },
})

const fireInstancePath = z.strictObject({ fireInstanceId: textUpTo(500).min(1) })

const interruptOne: Operation = operation({
  id: 'executing.interrupt',
  method: 'POST',
  path: '/executing/{fireInstanceId}/interrupt',
  summary: 'Asks one execution to stop, on whatever node it runs.',
  role: 'operator',
  reach: 'data',
  async jobGroups({ scheduler, params }) {
    const found = await findExecuting(scheduler, params.fireInstanceId)
    return found === undefined ? [] : [found.jobKey.group]
  },
  params: fireInstancePath,
  query: nothing,
  body: null,
  answer: plainActionJson,
  async handle(call) {
    const { scheduler, params } = call
    const found = await findExecuting(scheduler, params.fireInstanceId)
    if (found === undefined) {
      refuseBlind(scheduler)
      throw new SchedulerError(
        'ERR_NOT_FOUND',
        `Execution '${params.fireInstanceId}' does not run on any node.`,
      )
    }
    return change(call, 'data', {
      wouldChange: () => true,
      carryOut() {
        call.exchange.noteBegun()
        return scheduler.interrupt({ fireInstanceId: found.fireInstanceId })
      },
      result: null,
    })
  },
})

/** The group of the job of an execution, running or ended; none where it is not known. */
export async function groupsOfExecution({
  scheduler,
  params,
}: {
  readonly scheduler: Scheduler
  readonly params: { readonly fireInstanceId: string }
}): Promise<readonly string[]> {
  const running = await findExecuting(scheduler, params.fireInstanceId)
  const found = running ?? (await scheduler.getExecution(params.fireInstanceId))
  return found === null ? [] : [found.jobKey.group]
}

async function findExecuting(scheduler: Scheduler, id: string): Promise<ExecutingJob | undefined> {
  const executing = await scheduler.cluster.executingJobs()
  return executing.find(({ fireInstanceId }) => fireInstanceId === id)
}

const cursorJson: z.ZodType<ExecutionCursor> = z.strictObject({
  fireTimeMs: instantMs,
  fireInstanceId: textUpTo(500),
})

const listExecutions: Operation = operation({
  id: 'executions.list',
  method: 'GET',
  path: '/executions',
  summary:
    'Executions that ended, on any node, as far as the store remembers them; those that began last first.',
  role: 'viewer',
  reach: null,
  isList: true,
  jobGroups: 'visible',
  params: nothing,
  query: z.strictObject({
    ...pageQuery,
    filter: textUpTo(2000)
      .default('')
      .describe(
        'As in `job:reports/daily outcome:failed late>5s took>1m data.to=ops`; also trigger:, group:, node:, ' +
          'firing:, error:, manual:. Several outcomes stand with commas: `outcome:failed,lost`.',
      ),
    ...windowQuery('Began at or after', 'Began before'),
  }),
  body: null,
  answer: pageJson(executionJson),
  async handle({ scheduler, params, query, access }) {
    const { after, next } = cursorsOf('executions.list', { params, query }, cursorJson)
    const { query: wanted, rest } = parseExecutionFilter(query.filter)
    const found = await filteredPage<ExecutionSummary, ExecutionCursor>(
      (size, from) =>
        scheduler.queryExecutions({
          ...wanted,
          ...windowOf(query),
          ...(from !== undefined && { after: from }),
          take: size,
        }),
      { take: query.take, after },
      executionFilter(rest, access.has('viewer') ? null : (group) => access.hasOn(group, 'viewer')),
    )
    return {
      items: found.items.map(executionToJson),
      next: next(found.next && cursorOfExecution(found.next)),
    }
  },
})

const getExecution: Operation = operation({
  id: 'executions.get',
  method: 'GET',
  path: '/executions/{fireInstanceId}',
  summary:
    'One execution that ended, with its data, result and progress, and all attempts at the same firing.',
  role: 'viewer',
  reach: null,
  async jobGroups({ scheduler, params }) {
    const found = await scheduler.getExecution(params.fireInstanceId)
    return found === null ? [] : [found.jobKey.group]
  },
  params: fireInstancePath,
  query: nothing,
  body: null,
  answer: executionDetailsJson,
  async handle({ scheduler, params }) {
    const found = await scheduler.getExecution(params.fireInstanceId)
    if (found === null) throw unknownExecution(params.fireInstanceId)
    return executionDetailsToJson(found)
  },
})

const listLog: Operation = operation({
  id: 'executions.log',
  method: 'GET',
  path: '/executions/{fireInstanceId}/log',
  summary: 'What an execution logged, running or ended, in order.',
  role: 'viewer',
  reach: null,
  isList: true,
  jobGroups: groupsOfExecution,
  params: fireInstancePath,
  query: z.strictObject({
    take: pageQuery.take,
    format: pageQuery.format,
    after: wholeQuery(0, 2_147_483_647).default(0).describe('Only lines after the one of this number.'),
  }),
  body: null,
  answer: z.strictObject({ items: z.array(logLineJson), next: z.number().nullable() }),
  async handle({ scheduler, params, query }) {
    const { items, next } = await scheduler.queryExecutionLog(params.fireInstanceId, {
      take: query.take,
      after: query.after,
    })
    return { items: items.map(logLineToJson), next }
  },
})

function unknownExecution(id: string): SchedulerError {
  return new SchedulerError('ERR_NOT_FOUND', `The history of executions has none with the id '${id}'.`)
}

function executionFilter(
  rest: ExecutionFilter['rest'],
  isVisible: ((jobGroup: string) => boolean) | null,
): {
  isWanted: (execution: ExecutionSummary) => boolean
  keyOf: (execution: ExecutionSummary) => ExecutionCursor
} | null {
  if (rest.length === 0 && isVisible === null) return null
  return {
    isWanted: (execution) =>
      (isVisible === null || isVisible(execution.jobKey.group)) && rest.every((holds) => holds(execution)),
    keyOf: cursorOfExecution,
  }
}

function cursorOfExecution({ fireTimeMs, fireInstanceId }: ExecutionCursor): ExecutionCursor {
  return { fireTimeMs, fireInstanceId }
}

export const runOperations: readonly Operation[] = [
  listExecuting,
  interruptOne,
  listExecutions,
  getExecution,
  listLog,
]
