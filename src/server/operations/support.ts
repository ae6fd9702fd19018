import { z } from 'zod'
import { packageVersion } from '../../core/version.ts'
import { seesNodes } from '../attachment.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { nothing } from '../wire/fields.ts'
import {
  executingJson,
  executingToJson,
  executionJson,
  executionToJson,
  nodeJson,
  schedulerJson,
} from '../wire/runs.ts'
import { schedulerToJson } from './scheduler.ts'

/** How many of the last executions a dump has. */
const executionsShown = 100

const supportDump: Operation = operation({
  id: 'support.dump',
  method: 'GET',
  path: '/support-dump',
  summary:
    'What somebody who helps from afar asks for: versions, nodes, groups, what runs and ran. No job data.',
  role: 'admin',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: z.strictObject({
    version: z.string(),
    nodeVersion: z.string(),
    platform: z.string(),
    scheduler: schedulerJson,
    nodes: z.array(nodeJson).nullable(),
    jobGroups: z.array(z.string()),
    triggerGroups: z.array(z.string()),
    pausedJobGroups: z.array(z.string()),
    pausedTriggerGroups: z.array(z.string()),
    calendars: z.array(z.string()),
    executing: z.array(executingJson).nullable(),
    lastExecutions: z.array(executionJson),
  }),
  async handle({ scheduler, access, parts }) {
    const isSeen = seesNodes(scheduler)
    const executing = await scheduler.cluster.executingJobs()
    const { items } = await scheduler.queryExecutions({ take: executionsShown })
    return {
      version: packageVersion,
      nodeVersion: process.version,
      platform: `${process.platform}-${process.arch}`,
      scheduler: await schedulerToJson(scheduler, access, parts),
      nodes: isSeen ? [...(await scheduler.cluster.nodes())] : null,
      jobGroups: [...(await scheduler.getJobGroupNames())],
      triggerGroups: [...(await scheduler.getTriggerGroupNames())],
      pausedJobGroups: [...(await scheduler.getPausedJobGroups())],
      pausedTriggerGroups: [...(await scheduler.getPausedTriggerGroups())],
      calendars: [...(await scheduler.getCalendarNames())],
      executing: isSeen ? executing.map(executingToJson) : null,
      lastExecutions: items.map(executionToJson),
    }
  },
})

export const supportOperations: readonly Operation[] = [supportDump]
