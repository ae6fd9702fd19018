import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import type { JobDefinition } from './job-definition.ts'
import type { StandardSchemaIssue, StandardSchemaResult } from './standard-schema.ts'

const issuesShown = 5

/**
 * Checks merged job data against the schema of its definition and answers what the schema made of it (defaults filled
 * in, values converted); the data as it is when there is no schema.
 *
 * @param owner whose data it is, for the message, for example `job 'reports.daily'`
 * @throws InvalidArgumentError ERR_JOB_DATA_SCHEMA, naming the keys and what the schema says about them
 */
export async function validateAgainstSchema<Data extends object>(
  definition: JobDefinition<Data>,
  data: object,
  owner: string,
): Promise<Data> {
  if (definition.schema === null) return data as Data
  let result: StandardSchemaResult<Data>
  try {
    result = await definition.schema['~standard'].validate(data)
  } catch (error) {
    throw new InvalidArgumentError(
      'jobDataMap',
      `The schema of job type '${definition.jobType}' failed while it checked the data of ${owner}; ` +
        'the cause says why.',
      'ERR_JOB_DATA_SCHEMA',
      { cause: error },
    )
  }
  if (Object(result) !== result) {
    throw new InvalidArgumentError(
      'jobDataMap',
      `The schema of job type '${definition.jobType}' answered ${describeValue(result)} for the data of ${owner}; ` +
        "its 'validate' must return { value } or { issues }.",
      'ERR_JOB_DATA_SCHEMA',
    )
  }
  if (result.issues !== undefined) throw schemaError(definition.jobType, owner, result.issues)
  if (typeof result.value !== 'object' || (result.value as object | null) === null) {
    throw new InvalidArgumentError(
      'jobDataMap',
      `The schema of job type '${definition.jobType}' turned the data of ${owner} into ` +
        `${describeValue(result.value)}; job data must stay an object.`,
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
