import { z } from 'zod'
import { type TriggerState, triggerStates } from '../../jobstore/trigger-state.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { instantMs, nothing } from '../wire/fields.ts'
import { type TriggerSummaryJson, triggerSummaryJson, triggerSummaryToJson } from '../wire/triggers.ts'

export interface OverviewJson {
  readonly triggers: number
  readonly byState: Readonly<Partial<Record<TriggerState, number>>>
  readonly next: readonly TriggerSummaryJson[]
  readonly countedMs: number
}

const overviewJson: z.ZodType<OverviewJson> = z.strictObject({
  triggers: z.number(),
  byState: z.partialRecord(z.enum(triggerStates), z.number()),
  next: z.array(triggerSummaryJson).describe('The 20 triggers that fire next.'),
  countedMs: instantMs.describe('When it was looked: an answer is used again for as long as 100 looks take.'),
})

const overview: Operation = operation({
  id: 'scheduler.overview',
  method: 'GET',
  path: '/overview',
  summary: 'How many triggers there are of each state, and those that fire next.',
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: overviewJson,
  async handle({ scheduler, parts }) {
    const { byState, next, countedMs } = await parts.overviews.of(scheduler)
    const triggers = Object.values(byState).reduce((sum, count) => sum + count, 0)
    return { triggers, byState, next: next.map(triggerSummaryToJson), countedMs }
  },
})

export const overviewOperations: readonly Operation[] = [overview]
