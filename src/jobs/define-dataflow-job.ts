import { checkMethods, wrongArgument } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import type { StorableJobData } from '../core/job-data-type.ts'
import { refuseUnknownKeys, requireInteger } from '../core/options.ts'
import { systemClock } from '../time/clock.ts'
import { nextTurn } from '../time/next-turn.ts'
import { defineJob, type JobOptions, jobOptionNames } from './define-job.ts'
import type { InlineJobDefinition, JobExecutionContext } from './job-definition.ts'
import type { Shard } from './sharding.ts'

/** How an execution of a dataflow job gets its rows and what it does with them. */
export interface Dataflow<Row, Data extends object = Record<string, unknown>> {
  /** The next rows of this item; an empty list when there are no more. */
  fetch(shard: Shard, context: JobExecutionContext<Data>): readonly Row[] | Promise<readonly Row[]>
  /** Works on rows that were fetched, such that the next `fetch` answers other ones. */
  process(rows: readonly Row[], context: JobExecutionContext<Data>): unknown
}

export interface DataflowJobOptions<Data extends object = Record<string, unknown>> extends JobOptions<Data> {
  /** How often one execution fetches at most, 1 to 1,000,000: the next firing goes on. Default 1000. */
  readonly maxRounds?: number
}

/** What an execution of a dataflow job has done. */
export interface DataflowResult {
  /** How many rows were worked on. */
  readonly rows: number
  /** How often rows were worked on. */
  readonly rounds: number
  /** Whether there were no more rows; false when `maxRounds` ended it. */
  readonly isDone: boolean
}

const what = 'defineDataflowJob'
const optionNames = [...jobOptionNames, 'maxRounds']

/**
 * Defines a job that fetches rows and works on them, again and again while there are rows; for a sharded job, each item
 * its own. In a job that is not sharded the item is 0 of 1; give it `disallowConcurrentExecution`, or a firing that is
 * due while the last one works fetches the same rows. An interrupt or its time limit ends it between two rounds.
 *
 * @param jobType the name under which jobs of this kind are stored: the same on every node, for ever;
 *   at most 250 characters
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, ERR_INVALID_OPTION
 */
export function defineDataflowJob<Row, Data extends StorableJobData<Data> = Record<string, unknown>>(
  jobType: string,
  flow: Dataflow<Row, Data>,
  options: DataflowJobOptions<Data> = {},
): InlineJobDefinition<Data, DataflowResult> {
  checkMethods('an object with the methods fetch and process', ['fetch', 'process'])(what, 'flow', flow)
  refuseOptionsIn(flow)
  refuseUnknownKeys(what, options, optionNames)
  const { maxRounds = 1000, ...jobOptions } = options
  requireInteger(what, 'maxRounds', maxRounds, { min: 1, max: 1_000_000 })
  return defineJob<Data, Promise<DataflowResult>>(
    jobType,
    (context) => runRounds(flow, context, maxRounds),
    jobOptions,
  )
}

/** An object of a class may have fields of any name. */
function refuseOptionsIn(flow: object): void {
  if (Object.getPrototypeOf(flow) !== Object.prototype) return
  const misplaced = optionNames.find((name) => Object.hasOwn(flow, name))
  if (misplaced === undefined) return
  const remedy = `Give it in the third argument: ${what}(jobType, { fetch, process }, { ${misplaced} }).`
  throw new InvalidArgumentError(`flow.${misplaced}`, `${what}: '${misplaced}' is an option. ${remedy}`)
}

async function runRounds<Row, Data extends object>(
  flow: Dataflow<Row, Data>,
  context: JobExecutionContext<Data>,
  maxRounds: number,
): Promise<DataflowResult> {
  const whole: Shard = { item: 0, total: 1, parameter: null, firingId: context.fireInstanceId }
  const shard = context.shard ?? whole
  let rows = 0
  for (let rounds = 0; rounds < maxRounds; rounds++) {
    // Rows of a synchronous source come without a turn: no timer would run, and no interrupt arrive, until the end.
    if (rounds > 0) await nextTurn(systemClock)
    context.signal.throwIfAborted()
    const fetched: unknown = await flow.fetch(shard, context)
    if (!Array.isArray(fetched)) throw wrongArgument(what, 'rows', 'an array from fetch', fetched)
    if (fetched.length === 0) return { rows, rounds, isDone: true }
    await flow.process(fetched as readonly Row[], context)
    rows += fetched.length
  }
  return { rows, rounds: maxRounds, isDone: false }
}
