import { InvalidArgumentError } from '../../../core/errors.ts'
import { describeValue } from '../../../core/options.ts'

/** Names of Quartz's tables with schema and prefix, safe to put into a statement. */
export interface SqlNames {
  readonly prefix: string
  /** The schema in quotes and a dot, or an empty text. */
  readonly schema: string
  readonly jobs: string
  readonly triggers: string
  readonly simpleTriggers: string
  readonly cronTriggers: string
  readonly simpropTriggers: string
  readonly blobTriggers: string
  readonly calendars: string
  readonly pausedGroups: string
  readonly firedTriggers: string
  readonly schedulerState: string
  readonly locks: string
  /** Tables of this library that Quartz does not have. */
  readonly pausedJobGroups: string
  readonly history: string
  readonly jobStatus: string
  readonly jobDays: string
  readonly executionLog: string
  readonly executionProgress: string
  readonly misfires: string
  readonly pauses: string
  readonly notes: string
  readonly splitFirings: string
  readonly awaitedResults: string
  readonly audit: string
  readonly schemaVersion: string
}

const identifierPattern = /^[a-z_][a-z0-9_]{0,39}$/i

/** @throws InvalidArgumentError ERR_INVALID_OPTION when prefix or schema is no plain identifier */
export function sqlNames(what: string, options: { prefix?: string; schema?: string }): SqlNames {
  const prefix = requireIdentifier(what, 'tablePrefix', options.prefix ?? 'qrtz_')
  // In quotes, since a schema may have the name of a keyword, such as `user`; in lower case, as SQL reads it without.
  const schema =
    options.schema === undefined
      ? ''
      : `"${requireIdentifier(what, 'schema', options.schema).toLowerCase()}".`
  const table = (name: string): string => `${schema}${prefix}${name}`
  return {
    prefix,
    schema,
    jobs: table('job_details'),
    triggers: table('triggers'),
    simpleTriggers: table('simple_triggers'),
    cronTriggers: table('cron_triggers'),
    simpropTriggers: table('simprop_triggers'),
    blobTriggers: table('blob_triggers'),
    calendars: table('calendars'),
    pausedGroups: table('paused_trigger_grps'),
    firedTriggers: table('fired_triggers'),
    schedulerState: table('scheduler_state'),
    locks: table('locks'),
    pausedJobGroups: table('paused_job_grps'),
    history: table('execution_history'),
    jobStatus: table('job_status'),
    jobDays: table('job_days'),
    executionLog: table('execution_log'),
    executionProgress: table('execution_progress'),
    misfires: table('misfires'),
    pauses: table('pauses'),
    notes: table('notes'),
    splitFirings: table('split_firings'),
    awaitedResults: table('awaited_results'),
    audit: table('audit'),
    schemaVersion: table('schema_version'),
  }
}

function requireIdentifier(what: string, field: string, value: string): string {
  if (typeof value === 'string' && identifierPattern.test(value)) return value
  throw new InvalidArgumentError(
    field,
    `${what}: '${field}' must be a plain SQL name (letters, digits and underscores, no digit first, ` +
      `at most 40), got ${describeValue(value)}.`,
    'ERR_INVALID_OPTION',
  )
}
