import { InvalidArgumentError, JobPersistenceError } from '../../../../core/errors.ts'
import {
  emptyJobDataMap,
  freezeJobData,
  type JobDataMap,
  triggeredByKey,
} from '../../../../core/job-data-map.ts'
import { recoveryKeys } from '../../../../core/key.ts'
import { describeValue } from '../../../../core/options.ts'
import { readProperties, writeProperties } from './properties-text.ts'
import { storableJson } from './storable-text.ts'

/** How job data is written. `properties` is what Java Quartz reads under `useProperties=true`: strings only. */
export type JobDataEncoding = 'json' | 'properties'

/** `none` where Java nodes serialize data: they read no other, and one that finds such data fires nothing any more. */
export type WrittenJobData = JobDataEncoding | 'none'

/**
 * The text of a `job_data` column; null, which reads as an empty map in Java too, when there is none.
 *
 * @throws InvalidArgumentError ERR_INVALID_JOB_DATA when the encoding holds strings only and a value is none, or holds
 *   nothing
 */
export function jobDataText(
  encoding: WrittenJobData,
  owner: { readonly kind: string; readonly identity: { toString(): string } },
  data: JobDataMap,
): string | null {
  if (data === emptyJobDataMap) return null
  const entries = Object.entries(data)
  if (entries.length === 0) return null
  if (encoding === 'json') return storableJson(data)
  if (encoding === 'none') {
    const needed = entries.find(([key]) => !notes.has(key))
    if (needed === undefined) return null
    throw dataForSerializingJava(owner, needed[0])
  }
  return writeProperties(
    entries.map(([key, value]): [string, string] => {
      if (typeof value === 'string') return [key, value]
      throw new InvalidArgumentError(
        `jobDataMap.${key}`,
        `${owner.kind} ${describeValue(String(owner.identity))}: the store keeps job data as properties, which ` +
          `are strings, but '${key}' holds ${describeValue(value)}. Use a string, or the store option ` +
          "jobData: 'json' when no Java node shares the tables.",
        'ERR_INVALID_JOB_DATA',
      )
    }),
  )
}

/**
 * What says where a run comes from: without it a job runs all the same, unless it asks. Of a recovery that has no notes
 * a job on a Java node cannot ask for the trigger that it recovers: `getRecoveringTriggerKey()` throws there.
 */
const notes: ReadonlySet<string> = new Set([triggeredByKey, ...Object.values(recoveryKeys)])

function dataForSerializingJava(
  { kind, identity }: { readonly kind: string; readonly identity: { toString(): string } },
  key: string,
): InvalidArgumentError {
  return new InvalidArgumentError(
    'jobDataMap',
    `${kind} ${describeValue(String(identity))}: the Java nodes on these tables serialize job data, and would fire ` +
      `nothing any more once they find other data, such as ${describeValue(key)}. Store without data; or set ` +
      'useProperties=true on all Java nodes, have them store their jobs anew, and restart this process.',
    'ERR_INVALID_JOB_DATA',
  )
}

/**
 * Reads a `job_data` column in any of its forms.
 *
 * @throws JobPersistenceError ERR_BROKEN_ROW for data that Java serialized and for unreadable data
 */
export function readJobData(bytes: Buffer | null): JobDataMap {
  if (bytes === null || bytes.length === 0) return emptyJobDataMap
  if (isJavaSerialized(bytes)) {
    throw new JobPersistenceError(
      "Java serialized the job data ('job_data'). Let Java write it with useProperties=true, or store it anew here.",
      { code: 'ERR_BROKEN_ROW' },
    )
  }
  try {
    const data = startsLikeJson(bytes) ? readJsonObject(bytes) : readProperties(bytes.toString('latin1'))
    return Object.keys(data).length === 0 ? emptyJobDataMap : freezeJobData(data)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new JobPersistenceError(
      `The job data ('job_data') is neither JSON nor properties text: ${problem}. Mend it, or store it anew.`,
      { code: 'ERR_BROKEN_ROW', cause: error },
    )
  }
}

/** The first bytes of data that are written as JSON, in hexadecimal digits; no properties text begins so. */
export const jsonBegin = '7b'

/** Whether bytes begin as Java's object streams do. */
export function isJavaSerialized(bytes: Buffer): boolean {
  return bytes[0] === 0xac && bytes[1] === 0xed
}

function startsLikeJson(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte === 0x7b) return true
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false
  }
  return false
}

function readJsonObject(bytes: Buffer): JobDataMap {
  return JSON.parse(bytes.toString('utf8')) as JobDataMap
}
