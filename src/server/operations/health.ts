import { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import { type HealthReport, healthCodes } from '../../health/health-report.ts'
import type { SchedulerHealth } from '../../health/scheduler-health.ts'
import { type Operation, type OperationCall, operation, TextAnswer } from '../catalogue/operation.ts'
import { nothing } from '../wire/fields.ts'

const healthJson = z.strictObject({
  isOk: z.boolean(),
  reasons: z
    .array(z.strictObject({ scheduler: z.string(), code: z.enum(healthCodes), message: z.string() }))
    .nullable()
    .describe('Null for a client that is not a viewer of everything.'),
})
type HealthJson = z.output<typeof healthJson>

const unwell = 503

interface Question {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly role: 'viewer' | null
  readonly isProbe?: boolean
  readonly ask: (health: SchedulerHealth) => HealthReport | Promise<HealthReport>
}

/** Asks every scheduler of the server; it is well when all are. */
function healthOperation({ ask, ...described }: Question): Operation {
  return operation({
    ...described,
    method: 'GET',
    reach: null,
    isServerWide: true,
    isAtRoot: true,
    otherStatus: unwell,
    jobGroups: null,
    params: nothing,
    query: nothing,
    body: null,
    answer: healthJson,
    async handle({ access, parts }: OperationCall<unknown, unknown, unknown>) {
      const found = await Promise.all(
        [...parts.health].map(async ([scheduler, health]) => {
          const { reasons } = await ask(health)
          return reasons.map((reason) => ({ scheduler, ...reason }))
        }),
      )
      const reasons = found.flat()
      const isOk = reasons.length === 0
      const answer: HealthJson = { isOk, reasons: access.has('viewer') ? reasons : null }
      return isOk ? answer : new TextAnswer(unwell, 'application/json', JSON.stringify(answer))
    },
  })
}

const getMetrics: Operation = operation({
  id: 'metrics.get',
  method: 'GET',
  path: '/metrics',
  summary: 'The measurements of this process in the text format of Prometheus.',
  role: 'viewer',
  reach: null,
  isServerWide: true,
  isAtRoot: true,
  contentType: 'text/plain',
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: z.string(),
  async handle({ parts: { metrics } }) {
    if (metrics === null) {
      throw new SchedulerError('ERR_NOT_FOUND', "Nothing is measured: give the server 'metrics'.")
    }
    return new TextAnswer(200, metrics.contentType, await metrics.metrics())
  },
})

export const healthOperations: readonly Operation[] = [
  healthOperation({
    id: 'health.live',
    path: '/health/live',
    summary: 'Whether the process may go on: 503 when only a new one helps.',
    role: null,
    isProbe: true,
    ask: (health) => health.live(),
  }),
  healthOperation({
    id: 'health.ready',
    path: '/health/ready',
    summary: 'Whether the process takes work: 503 in standby, without its store, and before it stops.',
    role: null,
    isProbe: true,
    ask: (health) => health.ready(),
  }),
  healthOperation({
    id: 'health.rules',
    path: '/health/rules',
    summary: 'Whether the rules hold that the server was given: 503 when one does not.',
    role: 'viewer',
    ask: (health) => health.rules(),
  }),
  getMetrics,
]
