import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import { isThenable } from '../core/promises.ts'
import type { JobDefinition } from './job-definition.ts'
import type { StandardSchemaIssue, StandardSchemaResult } from './standard-schema.ts'

const issuesShown = 5

/**
 * Checks merged job data against the schema of its definition and answers what the schema made of it (defaults filled
 * in, values converted); the data as it is when there is no schema. A promise only where the schema answers with one.
 *
 * @param owner whose data it is, for the message, for example `job 'reports.daily'`
 * @throws InvalidArgumentError ERR_JOB_DATA_SCHEMA, naming the keys and what the schema says about them
 */
export function validateAgainstSchema<Data extends object>(
  definition: JobDefinition<Data>,
  data: object,
  owner: string,
): Data | Promise<Data> {
  const { jobType, schema } = definition
  if (schema === null) return data as Data
  const failed = (error: unknown): never => {
    throw new InvalidArgumentError(
      'jobDataMap',
      `The schema of job type '${jobType}' failed while it checked the data of ${owner}; the cause says why.`,
      'ERR_JOB_DATA_SCHEMA',
      { cause: error },
    )
  }
  const answered = (result: StandardSchemaResult<Data>): Data => dataOf(result, jobType, owner)
  let answer: StandardSchemaResult<Data> | PromiseLike<StandardSchemaResult<Data>>
  try {
    answer = schema['~standard'].validate(data)
    if (isThenable(answer)) return Promise.resolve(answer).then(answered, failed)
  } catch (error) {
    return failed(error)
  }
  return answered(answer)
}

function dataOf<Data extends object>(
  result: StandardSchemaResult<Data>,
  jobType: string,
  owner: string,
): Data {
  if (Object(result) !== result) {
    throw new InvalidArgumentError(
      'jobDataMap',
      `The schema of job type '${jobType}' answered ${describeValue(result)} for the data of ${owner}; ` +
        "its 'validate' must return { value } or { issues }.",
      'ERR_JOB_DATA_SCHEMA',
    )
  }
  if (result.issues !== undefined) throw schemaError(jobType, owner, result.issues)
  if (typeof result.value !== 'object' || (result.value as object | null) === null) {
    throw new InvalidArgumentError(
      'jobDataMap',
      `The schema of job type '${jobType}' turned the data of ${owner} into ${describeValue(result.value)}; job data ` +
        'must stay an object.',
      'ERR_JOB_DATA_SCHEMA',
    )
  }
  return result.value
}

function schemaError(
  jobType: string,
  owner: string,
  issues: readonly StandardSchemaIssue[],
): InvalidArgumentError {
  const lines = issues.slice(0, issuesShown).map((issue) => `'${pathOf(issue)}': ${issue.message}`)
  if (issues.length > issuesShown) lines.push(`and ${issues.length - issuesShown} more`)
  const first = issues[0]
  return new InvalidArgumentError(
    first === undefined ? 'jobDataMap' : pathOf(first),
    `Job data of ${owner} does not fit the schema of job type '${jobType}': ${lines.join('; ')}.`,
    'ERR_JOB_DATA_SCHEMA',
  )
}

function pathOf(issue: StandardSchemaIssue): string {
  let path = 'jobDataMap'
  for (const segment of issue.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment
    path += typeof key === 'number' ? `[${key}]` : `.${String(key)}`
  }
  return path
}
