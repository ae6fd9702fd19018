import type { MessagePort } from 'node:worker_threads'
import { emptyJobDataMap, type JobDataMap } from '../core/job-data-map.ts'
import type { TraceContext } from '../core/trace-context.ts'
import type { Shard } from '../jobs/sharding.ts'
import type { EpochMs } from '../time/clock.ts'
import { encodeFields, type FieldsWire, type ValueWire } from './value-wire.ts'

/** One execution as it crosses into a worker thread: plain data only. */
export interface WorkerTask {
  readonly moduleUrl: string
  readonly exportName: string
  readonly fireInstanceId: string
  /** Null for a task that is no job's, as of an executor. */
  readonly jobType: string | null
  readonly job: { readonly name: string; readonly group: string }
  readonly trigger: { readonly name: string; readonly group: string }
  readonly jobDataMap: JobDataMap
  readonly mergedJobDataMap: JobDataMap
  readonly fireTimeMs: EpochMs
  readonly scheduledFireTimeMs: EpochMs
  readonly previousFireTimeMs: EpochMs | null
  readonly nextFireTimeMs: EpochMs | null
  readonly recovering: boolean
  readonly refireCount: number
  readonly attempt: number
  readonly shard: Shard | null
  readonly traceContext: TraceContext | null
}

/** What comes back from a worker thread when the job ended well. */
export interface WorkerTaskResult {
  /** What the job returned. */
  readonly result: unknown
  /** The job's own data as the job left it. */
  readonly jobDataMap: JobDataMap
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/**
 * A task on the wire: a list, because field names would be written and read each time. Its first item is the number
 * that marks the messages of this task.
 */
export type TaskWire = readonly [
  tag: number,
  moduleUrl: string,
  exportName: string,
  fireInstanceId: string,
  jobName: string,
  jobGroup: string,
  triggerName: string,
  triggerGroup: string,
  jobDataMap: JobDataMap | null,
  mergedJobDataMap: JobDataMap | null,
  fireTimeMs: EpochMs,
  scheduledFireTimeMs: EpochMs,
  previousFireTimeMs: EpochMs | null,
  nextFireTimeMs: EpochMs | null,
  recovering: boolean,
  refireCount: number,
  attempt: number,
  traceContext: TraceContext | null,
  shard: Shard | null,
  jobType: string | null,
]

export function encodeTask(tag: number, task: WorkerTask): TaskWire {
  return [
    tag,
    task.moduleUrl,
    task.exportName,
    task.fireInstanceId,
    task.job.name,
    task.job.group,
    task.trigger.name,
    task.trigger.group,
    emptyAsNull(task.jobDataMap),
    emptyAsNull(task.mergedJobDataMap),
    task.fireTimeMs,
    task.scheduledFireTimeMs,
    task.previousFireTimeMs,
    task.nextFireTimeMs,
    task.recovering,
    task.refireCount,
    task.attempt,
    task.traceContext,
    task.shard,
    task.jobType,
  ]
}

export function decodeTask(wire: TaskWire): WorkerTask {
  return {
    moduleUrl: wire[1],
    exportName: wire[2],
    fireInstanceId: wire[3],
    job: { name: wire[4], group: wire[5] },
    trigger: { name: wire[6], group: wire[7] },
    jobDataMap: wire[8] ?? emptyJobDataMap,
    mergedJobDataMap: wire[9] ?? emptyJobDataMap,
    fireTimeMs: wire[10],
    scheduledFireTimeMs: wire[11],
    previousFireTimeMs: wire[12],
    nextFireTimeMs: wire[13],
    recovering: wire[14],
    refireCount: wire[15],
    attempt: wire[16],
    traceContext: wire[17],
    shard: wire[18],
    jobType: wire[19],
  }
}

function emptyAsNull(data: JobDataMap): JobDataMap | null {
  for (const _key in data) return data
  return null
}

/**
 * The end of a task. It has the job's data if the job has read them, because only then can they have changed; after a
 * failure only if they can be cloned. `refusal` says why they cannot be stored.
 */
export type TaskEnd =
  | readonly [tag: number, ok: true, result: unknown, jobDataMap: JobDataMap | null, refusal: Refusal]
  | readonly [tag: number, ok: false, thrown: ValueWire, jobDataMap: JobDataMap | null, refusal: Refusal]

/** An error; null for data that can be stored. */
export type Refusal = ValueWire | null

/**
 * How many messages of tasks may wait on the port of a lease. A task that reports without end fills it as fast as the
 * main thread reads it, which would do nothing else meanwhile; so the thread waits until they are read.
 */
export const unreadMax = 1000

/** To a worker thread, on the port of its lease. */
export type ControlMessage =
  /** The first one: where both sides count the messages of tasks that are not read yet. */
  | readonly [kind: 'unread', count: Int32Array]
  | readonly [kind: 'run', tasks: readonly TaskWire[]]
  | readonly [kind: 'abort', tag: number, reason: ValueWire]
  /** A message could not be read; the thread answers which of these tasks have ended. */
  | readonly [kind: 'whichEnded', tags: readonly number[]]
  /** The lease is over: there is no more work. */
  | readonly [kind: 'leave']

/** From a worker thread, on the port of its lease. Messages of one task arrive in order, the end last. */
export type WorkerMessage =
  | readonly [kind: 'ready', threadId: number]
  | readonly [kind: 'ends', ends: readonly TaskEnd[]]
  /** The answer to `whichEnded`. */
  | readonly [kind: 'ended', tags: readonly number[]]
  /** A module did not load in the thread, and a further try there would fail in the same way. */
  | readonly [kind: 'notLoaded', moduleUrl: string]
  | readonly [kind: 'progress', tag: number, value: unknown]
  | readonly [kind: 'log', tag: number, line: LogLine]

export type LogLine = readonly [level: LogLevel, fields: FieldsWire, message: string]

/** From a worker thread to the process: a log line of a task that is over. */
export interface LateLogLine {
  readonly quartzLogLine: LogLine
}

/** The pool has forgotten the task, so the fields that name its execution come along. The line's own go over them. */
export function lateLogLine([level, fields, text]: LogLine, task: WorkerTask): LateLogLine {
  const { fireInstanceId, job, jobType } = task
  if (jobType === null) return { quartzLogLine: [level, fields, text] }
  const execution = { jobKey: `${job.group}.${job.name}`, jobType, fireInstanceId }
  return { quartzLogLine: [level, [...encodeFields(execution), ...fields], text] }
}

export function isLateLogLine(message: unknown): message is LateLogLine {
  return typeof message === 'object' && message !== null && 'quartzLogLine' in message
}

/** What piscina passes to the thread for one lease: the port over which tasks come. */
export interface LeaseOffer {
  readonly port: MessagePort
}
