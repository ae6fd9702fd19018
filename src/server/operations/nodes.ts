import { z } from 'zod'
import type { SchedulerNode } from '../../jobstore/cluster-view.ts'
import { nodeAlive, nodeNotFound } from '../../jobstore/refusals.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { refuseAttached, seesNodes } from '../attachment.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { type ActionJson, actionJson } from '../wire/action.ts'
import { nothing, textUpTo } from '../wire/fields.ts'
import { pageQuery } from '../wire/pages.ts'
import { nodeJson, seenJson } from '../wire/runs.ts'
import { landedIn } from './changes.ts'

const listNodes: Operation = operation({
  id: 'nodes.list',
  method: 'GET',
  path: '/nodes',
  summary:
    'The nodes that share the data of the scheduler, as far as they check in; what is not known is null.',
  role: 'viewer',
  reach: null,
  isList: true,
  jobGroups: null,
  params: nothing,
  query: z.strictObject({ format: pageQuery.format }),
  body: null,
  answer: seenJson(nodeJson),
  handle: async ({ scheduler }) => ({
    items: [...(await scheduler.cluster.nodes())],
    isWhole: seesNodes(scheduler),
  }),
})

export interface NodeChangeJson {
  /** Whether the node reports that it has done so; false in a dry run. */
  readonly confirmed: boolean
  /** As it is now; null for one that was removed. */
  readonly node: SchedulerNode | null
}

const nodeChangeJson: z.ZodType<ActionJson<NodeChangeJson>> = actionJson(
  z.strictObject({
    confirmed: z
      .boolean()
      .describe('The node reports that it has done so. False: it was asked, and may not have heard.'),
    node: nodeJson.nullable().describe('As it is now; null for one that was removed.'),
  }),
)

const nodePath = z.strictObject({ instanceId: textUpTo(200).min(1) })

interface NodeVerb {
  readonly verb: 'start' | 'standby' | 'drain'
  readonly summary: string
  readonly wouldChange: (status: SchedulerNode['status']) => boolean
}

function steerNode({ verb, summary, wouldChange }: NodeVerb): Operation {
  return operation({
    id: `nodes.${verb}`,
    method: 'POST',
    path: `/nodes/{instanceId}/${verb}`,
    summary: `${summary} Another node is asked by a message; \`confirmed\` says whether it has reported to do so.`,
    role: 'admin',
    reach: 'node',
    jobGroups: null,
    params: nodePath,
    query: nothing,
    body: null,
    answer: nodeChangeJson,
    async handle({ scheduler, params: { instanceId }, isDryRun, exchange }) {
      const isSelf = instanceId === scheduler.schedulerInstanceId
      if (isSelf) refuseAttached(scheduler)
      const landed = { scope: 'node', node: instanceId } as const
      if (!isDryRun) {
        exchange.noteBegun()
        const { changed, ...result } = await scheduler.cluster[verb](instanceId)
        return { dryRun: false, changed, landed, result }
      }
      const node = await findNode(scheduler, instanceId)
      return {
        dryRun: true,
        changed: wouldChange(node.status),
        landed,
        result: { confirmed: false, node },
      }
    },
  })
}

const removeNode: Operation = operation({
  id: 'nodes.remove',
  method: 'POST',
  path: '/nodes/{instanceId}/remove',
  summary:
    'Recovers the work of a node that has missed check-ins at once, and takes it off the list. ' +
    'Its process must have ended; a node that checks in is refused.',
  role: 'admin',
  reach: 'data',
  jobGroups: null,
  params: nodePath,
  query: nothing,
  body: null,
  answer: nodeChangeJson,
  async handle({ scheduler, params: { instanceId }, isDryRun, exchange }) {
    const found = await findNode(scheduler, instanceId)
    if (found.state === 'alive') throw nodeAlive(instanceId)
    if (!isDryRun) {
      exchange.noteBegun()
      await scheduler.cluster.remove(instanceId)
    }
    return {
      dryRun: isDryRun,
      changed: true,
      landed: landedIn(scheduler, 'data'),
      result: { confirmed: !isDryRun, node: isDryRun ? found : null },
    }
  },
})

/** @throws SchedulerError ERR_NOT_FOUND */
async function findNode(scheduler: Scheduler, instanceId: string): Promise<SchedulerNode> {
  const node = (await scheduler.cluster.nodes()).find((each) => each.instanceId === instanceId)
  if (node === undefined) throw nodeNotFound(instanceId)
  return node
}

export const nodeOperations: readonly Operation[] = [
  listNodes,
  steerNode({
    verb: 'start',
    summary: 'Starts a node: it fires triggers.',
    wouldChange: (status) => status !== 'started',
  }),
  steerNode({
    verb: 'standby',
    summary: 'Puts a node in standby: it fires nothing until it is started; running jobs go on.',
    wouldChange: (status) => status !== 'standby' && status !== 'draining',
  }),
  steerNode({
    verb: 'drain',
    summary:
      'Puts a node in standby that is to end: its `executing` in the list of nodes says how many jobs still run.',
    wouldChange: (status) => status !== 'draining',
  }),
  removeNode,
]
