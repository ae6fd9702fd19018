import { checkName, checkOptions, checkWhole, requireOptions } from '../core/arguments.ts'
import { checkJobKey, type JobKey, type TriggerKey } from '../core/key.ts'
import { lackOfSuccess, lateness, longestMs, requireJobStatus } from '../health/health-rules.ts'
import type { JobStatus } from '../jobstore/job-status.ts'
import type { Page, TriggerSummary } from '../jobstore/queries.ts'
import { ofStoredJobs } from '../scheduler/stored-jobs.ts'
import type { AlertRule } from './alert-types.ts'

/** Options of the alert rules that need none of their own. */
export interface AlertRuleOptions {
  /** Tells two rules of one kind apart. Default: that of its kind. */
  readonly name?: string
}

function nameOf(what: string, options: AlertRuleOptions, kind: string): string {
  checkOptions(what, options, { name: checkName })
  return options.name ?? kind
}

/** What a rule left out would be taken for over. */
async function allOf<Item, Key>(
  load: (page: { readonly take: number; readonly after?: Key }) => Promise<Page<Item, Key>>,
): Promise<readonly Item[]> {
  const all: Item[] = []
  let after: Key | null = null
  do {
    const page: Page<Item, Key> = await load({ take: 1000, ...(after !== null && { after }) })
    all.push(...page.items)
    after = page.next
  } while (after !== null)
  return all
}

/**
 * A job that failed `times` times in a row (1 to 1,000), on whatever nodes; over when it ends well or is deleted. Each
 * attempt counts. With a store that keeps no status of jobs the rule cannot be checked.
 *
 * @throws InvalidArgumentError when an argument is wrong
 */
export function failedInARow(times: number, options: AlertRuleOptions = {}): AlertRule {
  checkWhole(1, 1000)('failedInARow', 'times', times)
  return {
    name: nameOf('failedInARow', options, 'failed-in-a-row'),
    description: `A job has failed ${times} times in a row.`,
    async check({ scheduler }) {
      requireJobStatus(scheduler)
      const items = await allOf<JobStatus, JobKey>(async (page) => {
        const found = await scheduler.queryJobStatus({ minConsecutiveFailures: times, ...page })
        return { ...found, items: await ofStoredJobs(scheduler, found.items) }
      })
      return items.map(({ jobKey, consecutiveFailures, lastErrorText }) => ({
        subject: jobKey.toString(),
        message: `Job ${jobKey.toString()} has failed ${consecutiveFailures} times in a row: ${lastErrorText ?? '?'}`,
      }))
    },
  }
}

/**
 * A job that has not ended well for `ms` milliseconds (1 to 31,536,000,000), on whatever node. For a job that never
 * did, the time counts as that of `successWithin` does. With a store that keeps no status of jobs the rule cannot be
 * checked.
 *
 * @throws InvalidArgumentError when an argument is wrong
 */
export function noSuccessWithin(jobKey: JobKey, ms: number, options: AlertRuleOptions = {}): AlertRule {
  checkJobKey('noSuccessWithin', 'jobKey', jobKey)
  checkWhole(1, longestMs)('noSuccessWithin', 'ms', ms)
  return {
    name: nameOf('noSuccessWithin', options, `no-success:${jobKey.toString()}`),
    description: `Job ${jobKey.toString()} has not ended well for ${ms} ms.`,
    async check(check) {
      const message = await lackOfSuccess(check, jobKey, ms)
      return message === null ? [] : [{ subject: jobKey.toString(), message }]
    },
  }
}

/**
 * A trigger that waits longer than `ms` milliseconds (1 to 31,536,000,000) past its time, on whatever node.
 *
 * @throws InvalidArgumentError when an argument is wrong
 */
export function firingLaterThan(ms: number, options: AlertRuleOptions = {}): AlertRule {
  checkWhole(1, longestMs)('firingLaterThan', 'ms', ms)
  return {
    name: nameOf('firingLaterThan', options, 'late'),
    description: `A trigger waits longer than ${ms} ms past its time.`,
    async check(check) {
      const message = await lateness(check, ms)
      return message === null ? [] : [{ subject: '', message }]
    },
  }
}

/** Triggers in the ERROR state: they fire no more until they are reset. */
export function triggerInError(options: AlertRuleOptions = {}): AlertRule {
  return {
    name: nameOf('triggerInError', options, 'trigger-in-error'),
    description: 'A trigger is in the ERROR state.',
    async check({ scheduler }) {
      const items = await allOf<TriggerSummary, TriggerKey>((page) =>
        scheduler.queryTriggers({ state: 'ERROR', ...page }),
      )
      return items.map(({ key, jobKey }) => ({
        subject: key.toString(),
        message: `Trigger ${key.toString()} of job ${jobKey.toString()} is in the ERROR state.`,
      }))
    },
  }
}

/** Options of `nodeDown`. */
export interface NodeDownOptions extends AlertRuleOptions {
  /** The alert is over when no node has failed for so long. Milliseconds, 1,000 to 86,400,000, default 900,000. */
  readonly quietMs?: number
}

/** A node of the cluster that stopped checking in, so that others recover its work. */
export function nodeDown(options: NodeDownOptions = {}): AlertRule {
  checkOptions('nodeDown', options, { name: checkName, quietMs: checkWhole(1000, 86_400_000) })
  const { name = 'node-down', quietMs = 900_000 } = options
  return {
    name,
    description: 'A node stopped checking in.',
    quietMs,
    watch: ({ scheduler }, raise) =>
      scheduler.events.on('nodeFailed', ({ node }) => {
        raise({
          subject: node,
          message: `Node ${node} stopped checking in; its work is recovered.`,
        })
      }),
  }
}

/** Options of `misfiresOver`. */
export interface MisfiresOverOptions extends AlertRuleOptions {
  /** How many misfires are no reason for an alert yet. 0 to 1,000,000. */
  readonly count: number
  /** In how long, up to each misfire. Milliseconds, 1,000 to 86,400,000. */
  readonly withinMs: number
}

/**
 * More misfires on one node than so many in so long; over when there were fewer for as long.
 *
 * @throws InvalidArgumentError when an option is missing or wrong
 */
export function misfiresOver(options: MisfiresOverOptions): AlertRule {
  const what = 'misfiresOver'
  const checks = {
    name: checkName,
    count: checkWhole(0, 1_000_000),
    withinMs: checkWhole(1000, 86_400_000),
  }
  requireOptions(what, options, checks, ['count', 'withinMs'])
  const { name = 'misfires', count, withinMs } = options
  return {
    name,
    description: `More than ${count} misfires on a node in ${withinMs} ms.`,
    quietMs: withinMs,
    watch({ scheduler, clock }, raise) {
      // The instants of the newest `count + 1`, in turn: when the oldest of them is not long ago, there were too many.
      const instants: number[] = []
      let seen = 0
      return scheduler.events.on('triggerMisfired', () => {
        const nowMs = clock.elapsedMs()
        instants[seen++ % (count + 1)] = nowMs
        const oldestMs = instants[seen % (count + 1)]
        if (oldestMs === undefined || nowMs - oldestMs > withinMs) return
        raise({
          subject: scheduler.schedulerInstanceId,
          message: `More than ${count} triggers misfired on node ${scheduler.schedulerInstanceId} in ${withinMs} ms.`,
        })
      })
    },
  }
}
