/** What a measurement is told apart by. */
export type LabelName =
  | 'scheduler'
  | 'job_group'
  | 'outcome'
  | 'cause'
  | 'code'
  | 'operation'
  | 'result'
  | 'keyword'
  | 'state'
  | 'stat'

/** One measurement, as OpenTelemetry names it; the name for Prometheus follows from it. */
export interface InstrumentSpec {
  readonly name: string
  /** A counter only grows; a gauge is read when it is asked for; a histogram counts values by size. */
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** In UCUM: `s`, or what is counted in braces. */
  readonly unit: string
  readonly description: string
  readonly labels: readonly LabelName[]
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[]
}

export type CounterId =
  | 'fires'
  | 'executions'
  | 'misfires'
  | 'retries'
  | 'retriesExhausted'
  | 'triggersInError'
  | 'errors'
  | 'nodeFailures'
  | 'checkInFailures'
  | 'storeRetries'
export type HistogramId = 'lateness' | 'duration' | 'storeCalls' | 'statements' | 'lockWaits'
export type GaugeId = 'started' | 'poolSize' | 'poolBusy' | 'nodes' | 'clockOffset' | 'eventLoopLag'
export type InstrumentId = CounterId | HistogramId | GaugeId

const jobBuckets = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600]
const storeBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Every measurement of a scheduler: the one list from which both exporters are made. */
export const instruments: Readonly<Record<InstrumentId, InstrumentSpec>> = {
  fires: {
    name: 'quartz.fires',
    kind: 'counter',
    unit: '{fire}',
    description: 'Triggers that fired.',
    labels: ['scheduler', 'job_group'],
  },
  executions: {
    name: 'quartz.executions',
    kind: 'counter',
    unit: '{execution}',
    description: 'Runs of jobs that ended, by outcome; also those that were vetoed or lost with their node.',
    labels: ['scheduler', 'job_group', 'outcome'],
  },
  lateness: {
    name: 'quartz.fire.lateness',
    kind: 'histogram',
    unit: 's',
    description: 'How much later than planned triggers fired; retries count from the end of their pause.',
    labels: ['scheduler', 'job_group'],
    buckets: jobBuckets,
  },
  duration: {
    name: 'quartz.execution.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long jobs ran.',
    labels: ['scheduler', 'job_group'],
    buckets: jobBuckets,
  },
  misfires: {
    name: 'quartz.misfires',
    kind: 'counter',
    unit: '{misfire}',
    description: 'Triggers that could not fire in time, by cause.',
    labels: ['scheduler', 'job_group', 'cause'],
  },
  retries: {
    name: 'quartz.retries',
    kind: 'counter',
    unit: '{retry}',
    description: 'Retries that were scheduled after a failure.',
    labels: ['scheduler', 'job_group'],
  },
  retriesExhausted: {
    name: 'quartz.retries_exhausted',
    kind: 'counter',
    unit: '{execution}',
    description: 'Executions that failed in their last attempt.',
    labels: ['scheduler', 'job_group'],
  },
  triggersInError: {
    name: 'quartz.triggers_in_error',
    kind: 'counter',
    unit: '{trigger}',
    description: 'Triggers that went to the ERROR state.',
    labels: ['scheduler'],
  },
  errors: {
    name: 'quartz.errors',
    kind: 'counter',
    unit: '{error}',
    description: 'Failures that no caller waited for (schedulerError), by error code.',
    labels: ['scheduler', 'code'],
  },
  nodeFailures: {
    name: 'quartz.node.failures',
    kind: 'counter',
    unit: '{node}',
    description: 'Nodes that this one found failed.',
    labels: ['scheduler'],
  },
  checkInFailures: {
    name: 'quartz.check_in.failures',
    kind: 'counter',
    unit: '{failure}',
    description: 'Times at which this node stopped being able to check in.',
    labels: ['scheduler'],
  },
  storeCalls: {
    name: 'quartz.store.call.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long calls of the job store took, by operation and result.',
    labels: ['scheduler', 'operation', 'result'],
    buckets: storeBuckets,
  },
  statements: {
    name: 'quartz.store.statement.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long SQL statements took until their answer, by their first word.',
    labels: ['scheduler', 'keyword'],
    buckets: storeBuckets,
  },
  storeRetries: {
    name: 'quartz.store.retries',
    kind: 'counter',
    unit: '{transaction}',
    description: 'Transactions that were run again after a lock, a deadlock or a lost connection.',
    labels: ['scheduler'],
  },
  lockWaits: {
    name: 'quartz.store.lock_wait.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long operations had waited for a lock when they were reported (lockWaitExceeded).',
    labels: ['scheduler'],
    buckets: [0.1, 0.5, 1, 5, 10, 30, 60],
  },
  started: {
    name: 'quartz.scheduler.started',
    kind: 'gauge',
    unit: '1',
    description: '1 while the scheduler fires triggers, 0 in standby.',
    labels: ['scheduler'],
  },
  poolSize: {
    name: 'quartz.pool.size',
    kind: 'gauge',
    unit: '{slot}',
    description: 'Slots of the thread pool.',
    labels: ['scheduler'],
  },
  poolBusy: {
    name: 'quartz.pool.busy',
    kind: 'gauge',
    unit: '{slot}',
    description: 'Slots of the thread pool that are taken.',
    labels: ['scheduler'],
  },
  nodes: {
    name: 'quartz.nodes',
    kind: 'gauge',
    unit: '{node}',
    description: 'Nodes of the cluster by state, as this node sees them.',
    labels: ['scheduler', 'state'],
  },
  clockOffset: {
    name: 'quartz.clock.offset',
    kind: 'gauge',
    unit: 's',
    description: "How far the database's time is ahead of this node's clock.",
    labels: ['scheduler'],
  },
  eventLoopLag: {
    name: 'quartz.event_loop.lag',
    kind: 'gauge',
    unit: 's',
    description: 'How late the event loop ran its timers since it was asked last: mean, p99 and max.',
    labels: ['stat'],
  },
}

/** The name by the conventions of Prometheus: base units and `_total`. */
export function prometheusName({ name, kind, unit }: InstrumentSpec): string {
  const base = name.replaceAll('.', '_') + (unit === 's' ? '_seconds' : '')
  return kind === 'counter' ? `${base}_total` : base
}

/** The attribute of OpenTelemetry for a label. */
export function attributeName(label: LabelName): string {
  return `quartz.${label.replace('_', '.')}`
}
