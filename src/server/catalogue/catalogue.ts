import { alertOperations } from '../operations/alerts.ts'
import { auditOperations } from '../operations/audit.ts'
import { authOperations } from '../operations/auth.ts'
import { bulkOperations } from '../operations/bulk.ts'
import { calendarOperations } from '../operations/calendars.ts'
import { completionOperations } from '../operations/completion.ts'
import { cronOperations } from '../operations/cron.ts'
import { definitionOperations } from '../operations/definitions.ts'
import { executionStatsOperations } from '../operations/execution-stats.ts'
import { healthOperations } from '../operations/health.ts'
import { jobStatusOperations } from '../operations/job-status.ts'
import { jobOperations } from '../operations/jobs.ts'
import { misfireOperations } from '../operations/misfires.ts'
import { nodeOperations } from '../operations/nodes.ts'
import { overviewOperations } from '../operations/overview.ts'
import { plannedOperations } from '../operations/planned.ts'
import { runOperations } from '../operations/runs.ts'
import { schedulerOperations } from '../operations/scheduler.ts'
import { serverOperations } from '../operations/sessions.ts'
import { shardOperations } from '../operations/shards.ts'
import { supportOperations } from '../operations/support.ts'
import { triggerListOperations } from '../operations/trigger-lists.ts'
import { triggerOperations } from '../operations/triggers.ts'
import { xxlJobOperations } from '../operations/xxl-job.ts'
import type { Operation } from './operation.ts'

/** Every operation of the API: there is no route besides these. */
export const catalogue: readonly Operation[] = [
  ...serverOperations,
  ...schedulerOperations,
  ...overviewOperations,
  ...jobOperations,
  ...shardOperations,
  ...triggerListOperations,
  ...triggerOperations,
  ...plannedOperations,
  ...runOperations,
  ...nodeOperations,
  ...misfireOperations,
  ...jobStatusOperations,
  ...executionStatsOperations,
  ...completionOperations,
  ...cronOperations,
  ...calendarOperations,
  ...bulkOperations,
  ...definitionOperations,
  ...auditOperations,
  ...authOperations,
  ...supportOperations,
  ...alertOperations,
  ...xxlJobOperations,
  ...healthOperations,
]
