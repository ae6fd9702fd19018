import {
  type ArgumentCheck,
  checkBoolean,
  checkFunction,
  checkName,
  checkObject,
  checkRecord,
  checkWhole,
  requireOptions,
} from '../../core/arguments.ts'
import type { JobStore } from '../../jobstore/job-store.ts'
import type { JobStoreCapabilities } from '../../jobstore/job-store-capabilities.ts'
import { timerDelayMaxMs } from '../../time/clock.ts'
import { ManualClock } from '../../time/manual-clock.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { acquireCases } from './acquire-cases.ts'
import { auditCases } from './audit-cases.ts'
import { awaitedCases, awaitedClusterCases, awaitedRestartCases } from './awaited-cases.ts'
import { calendarCases } from './calendar-cases.ts'
import { concurrencyCases } from './concurrency-cases.ts'
import { definitionCases } from './definition-cases.ts'
import { executionCases } from './execution-cases.ts'
import { fencingCases } from './fencing-cases.ts'
import { fireAtOnceCases, startedAtOnce } from './fire-at-once-cases.ts'
import { fireCases } from './fire-cases.ts'
import { fireOnScheduleCases } from './fire-on-schedule-cases.ts'
import { jobCases } from './job-cases.ts'
import { jobStatusCases } from './job-status-cases.ts'
import { jobTypeCases } from './job-type-cases.ts'
import { lifecycleCases } from './lifecycle-cases.ts'
import { listCases } from './list-cases.ts'
import { misfireCases } from './misfire-cases.ts'
import { missedCases } from './missed-cases.ts'
import { noteCases } from './note-cases.ts'
import { pauseCases } from './pause-cases.ts'
import { pauseNoteCases } from './pause-note-cases.ts'
import { pauseOverCases } from './pause-over-cases.ts'
import { planCases } from './plan-cases.ts'
import { queryCases } from './query-cases.ts'
import { shardCases } from './shard-cases.ts'
import { sharedDataCases } from './shared-data-cases.ts'
import { signalCases } from './signal-cases.ts'
import type { StoreCase, StoreCaseTools } from './store-case.ts'
import { type ConformanceTriggers, Testbed } from './testbed.ts'
import { triggerCases } from './trigger-cases.ts'

export interface JobStoreConformanceOptions {
  /** The name of the store in the names of its data. */
  readonly name: string
  /**
   * Makes a store that was not initialized yet, over the data called `dataId`, which is empty at first. A persistent
   * or clustered store is made twice over the same data by some cases.
   */
  readonly create: (dataId: string) => JobStore | Promise<JobStore>
  /** Deletes the data; called after each case, when its stores have been shut down. */
  readonly destroy?: (dataId: string) => void | Promise<void>
  /** A trigger family of your own that the store is to keep. Default: the cases store simple triggers. */
  readonly triggers?: ConformanceTriggers
  /** The capabilities that the store must declare; cases that need more are left out. */
  readonly capabilities: JobStoreCapabilities
}

const capabilityChecks: Readonly<Record<keyof JobStoreCapabilities, ArgumentCheck>> = {
  persistent: checkBoolean,
  clustered: checkBoolean,
  history: checkBoolean,
  records: checkBoolean,
  firesAtOnce: checkBoolean,
  firesOnSchedule: checkBoolean,
  sharedTransactions: checkBoolean,
  sharding: checkBoolean,
  awaitedResults: checkBoolean,
  changesDefinitions: checkBoolean,
  longestLockWaitMs: checkWhole(0, timerDelayMaxMs),
}

const optionChecks: Readonly<Record<keyof JobStoreConformanceOptions, ArgumentCheck>> = {
  name: checkName,
  create: checkFunction,
  destroy: checkFunction,
  triggers: checkObject,
  // A name that is mistyped would leave out cases without a word.
  capabilities: checkRecord(capabilityChecks, ['persistent', 'clustered']),
}

const allCases: readonly StoreCase[] = [
  ...lifecycleCases,
  ...jobCases,
  ...jobTypeCases,
  ...triggerCases,
  ...acquireCases,
  ...fireCases,
  ...fireAtOnceCases,
  ...fireOnScheduleCases,
  ...concurrencyCases,
  ...fencingCases,
  ...misfireCases,
  ...[...fireCases, ...concurrencyCases, ...fencingCases, ...misfireCases].map(startedAtOnce),
  ...missedCases,
  ...pauseCases,
  ...pauseNoteCases,
  ...pauseOverCases,
  ...signalCases,
  ...calendarCases,
  ...queryCases,
  ...executionCases,
  ...jobStatusCases,
  ...auditCases,
  ...listCases,
  ...sharedDataCases,
  ...noteCases,
  ...planCases,
  ...definitionCases,
  ...shardCases,
  ...awaitedCases,
  ...awaitedClusterCases,
  ...awaitedRestartCases,
]

/**
 * The behaviour of every job store, as a list of cases for any test runner:
 *
 * @example
 * import { jobStoreConformance } from 'quartz-ts/testing'
 * import { test } from 'vitest'
 *
 * const cases = jobStoreConformance({
 *   name: 'mine',
 *   create: () => new MyJobStore(),
 *   capabilities: { persistent: false, clustered: false },
 * })
 * test.each(cases)('$area: $name', ({ run }) => run())
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function jobStoreConformance(options: JobStoreConformanceOptions): readonly ConformanceCase[] {
  requireOptions('jobStoreConformance', options, optionChecks, ['name', 'create', 'capabilities'])
  const { capabilities } = options
  return allCases
    .filter(({ needs }) => offers(capabilities, needs))
    .map(({ area, name, body }, index) => ({
      area,
      name,
      run: () => runCase(options, `${options.name}-${String(index)}`, body),
    }))
}

function offers(capabilities: JobStoreCapabilities, needs: Partial<JobStoreCapabilities>): boolean {
  return (
    (needs.persistent !== true || capabilities.persistent) &&
    (needs.clustered !== true || capabilities.clustered) &&
    (needs.history !== true || capabilities.history === true) &&
    (needs.records !== true || capabilities.records === true) &&
    (needs.sharding !== true || capabilities.sharding === true) &&
    (needs.awaitedResults !== true || capabilities.awaitedResults === true) &&
    (needs.changesDefinitions !== true || capabilities.changesDefinitions === true) &&
    (needs.firesAtOnce !== true || capabilities.firesAtOnce === true) &&
    (needs.firesOnSchedule !== true || capabilities.firesOnSchedule === true)
  )
}

async function runCase(
  options: JobStoreConformanceOptions,
  dataId: string,
  body: StoreCase['body'],
): Promise<void> {
  const clock = new ManualClock()
  const beds: Testbed[] = []
  const usedIds = new Set<string>()
  const create = async (id: string): Promise<Testbed> => {
    usedIds.add(id)
    const bed = new Testbed(
      await options.create(id),
      clock,
      `node-${String(beds.length + 1)}`,
      options.triggers,
    )
    beds.push(bed)
    return bed
  }
  const open = async (): Promise<Testbed> => {
    const bed = await create(dataId)
    await bed.store.initialize(bed.context)
    return bed
  }
  const tools: StoreCaseTools = {
    capabilities: options.capabilities,
    reopen: open,
    createRaw: () => create(`${dataId}-raw`),
  }
  const errors: unknown[] = []
  const attempt = async (step: () => unknown): Promise<void> => {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  await attempt(async () => body(await open(), tools))
  for (const bed of beds) await attempt(() => bed.store.shutdown())
  for (const id of usedIds) await attempt(() => options.destroy?.(id))
  // A store that has failed a case often fails to shut down as well: the case says why.
  if (errors.length > 0) throw errors[0]
}
