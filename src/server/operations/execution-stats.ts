import { z } from 'zod'
import { executionOutcomes } from '../../jobstore/queries.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { type ExecutionStatsJson, lookedAtMax } from '../execution-stats.ts'
import { instantMs, nothing, wholeQuery } from '../wire/fields.ts'

const spread = z.strictObject({ p50: z.number(), p99: z.number(), max: z.number() }).nullable()
const counts = z.partialRecord(z.enum(executionOutcomes), z.number())

const executionStatsJson: z.ZodType<ExecutionStatsJson> = z.strictObject({
  fromMs: instantMs.describe('Later than asked for where there were more executions than are looked at.'),
  toMs: instantMs,
  count: z.number(),
  keepsSuccesses: z
    .boolean()
    .describe("Whether the history of this server's store keeps executions that succeeded."),
  byOutcome: counts,
  latenessMs: spread.describe(
    'How much later than planned they began, retries left out; null when there was none.',
  ),
  durationMs: spread,
  bucketMs: z.number(),
  buckets: z.array(z.strictObject({ atMs: instantMs, byOutcome: counts })),
})

const executionStats: Operation = operation({
  id: 'executions.stats',
  method: 'GET',
  path: '/execution-stats',
  summary: `What ended lately, in numbers: at most the last ${lookedAtMax} executions that the store remembers.`,
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: z.strictObject({ minutes: wholeQuery(1, 1440).default(60).describe('How far back.') }),
  body: null,
  answer: executionStatsJson,
  handle: async ({ scheduler, query, parts }) => parts.executionStats.of(scheduler, query.minutes * 60_000),
})

export const executionStatsOperations: readonly Operation[] = [executionStats]
