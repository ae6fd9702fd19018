import {
  type ArgumentCheck,
  checkBoolean,
  checkData,
  checkDate,
  checkName,
  checkNumber,
  checkOneOf,
  checkOptions,
  checkString,
  checkThat,
  checkWhole,
  listOf,
  wrongArgument,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { isJobKey } from '../core/key.ts'
import { isObject } from '../core/options.ts'
import { checkJobSource, requireJobType } from '../jobs/define-job.ts'
import type { JobSource, StoredDataOf } from '../jobs/job-definition.ts'
import type { KeyedSchedule, ScheduleOptions, WhenName } from '../jobs/schedule-options.ts'
import { cronDialects } from '../triggers/cron/cron-dialect.ts'
import { cronDsts } from '../triggers/cron/dst-policy.ts'
import { calendarMisfireInstructions, simpleMisfireInstructions } from '../triggers/misfire-instruction.ts'
import type { JobSchedule, ReconcileOptions, ScheduleDefinition } from './schedule-definition.ts'
import { checkTimes } from './schedule-times.ts'

const checkKeyOrName: ArgumentCheck = (method, argument, value, code) => {
  if (!isJobKey(value)) checkName(method, argument, value, code)
}

const checkDuration = checkThat(
  "a number of milliseconds or a text such as '10s', '5m' or '1h30m'",
  (value) => typeof value === 'number' || typeof value === 'string',
)

const optionChecks: Readonly<Record<string, ArgumentCheck>> = {
  key: checkKeyOrName,
  cron: checkString,
  daily: checkString,
  every: checkDuration,
  at: checkDate,
  in: checkDuration,
  dialect: checkOneOf(cronDialects),
  zone: checkString,
  dst: checkOneOf(cronDsts),
  data: checkData,
  description: checkString,
  priority: checkNumber,
  calendarName: checkName,
  startAt: checkDate,
  endAt: checkDate,
  requestRecovery: checkBoolean,
  durable: checkBoolean,
  misfireInstruction: checkOneOf([
    ...new Set<string>([...simpleMisfireInstructions, ...calendarMisfireInstructions]),
  ]),
}

const checkWhen = checkThat(
  'an object',
  isObject,
  "Say when, as in { cron: '0 7 * * *' } or { every: '5m' }.",
)

const whenNames: readonly WhenName[] = ['cron', 'daily', 'every', 'at', 'in']

/** Which of the other options each form takes. */
const takes: Readonly<Record<string, readonly string[]>> = {
  dialect: ['cron'],
  zone: ['cron', 'daily'],
  dst: ['cron', 'daily'],
  misfireInstruction: ['cron', 'daily', 'every'],
  startAt: ['cron', 'daily', 'every'],
  endAt: ['cron', 'daily', 'every'],
  durable: ['at', 'in'],
}

/**
 * A job with when it runs, for `reconcile` and for the `schedules` of createScheduler. It stores nothing.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION naming the option, also when none or several options say when
 * @throws InvalidArgumentError ERR_UNKNOWN_TIME_ZONE; CronExpressionError
 */
export function defineSchedule<Source extends JobSource | string>(
  job: Source,
  options: NoInfer<ScheduleOptions<StoredDataOf<Source>> & KeyedSchedule>,
): ScheduleDefinition
export function defineSchedule(
  job: JobSource | string,
  options: ScheduleOptions<object>,
): ScheduleDefinition {
  const schedule = jobSchedule('defineSchedule', job, options)
  const { key } = options
  if (key === undefined) throw invalid('defineSchedule', 'key', "'key' is missing: a set finds it by that")
  refuseDurable('defineSchedule', options)
  checkTimes('defineSchedule', options)
  return Object.freeze({ ...schedule, options: Object.freeze({ ...options, key }), '~defined': true })
}

/** The same, also without a key, for a caller of its own name, who reads the times itself. */
export function jobSchedule(
  method: string,
  job: JobSource | string,
  options: ScheduleOptions<object>,
): JobSchedule {
  if (typeof job === 'string') requireJobType(job)
  else checkJobSource(method, 'job', job)
  checkWhen(method, 'options', options)
  for (const name of ['name', 'group']) {
    if (name in options)
      throw invalid(method, name, `'${name}' is part of the key: pass key: jobKey('name', 'group')`)
  }
  refuseOptionsOfJob(method, options)
  checkOptions(method, options, optionChecks)
  const given = Object.keys(options).filter((name) => Reflect.get(options, name) !== undefined)
  const [when, second] = whenNames.filter((name) => given.includes(name))
  if (when === undefined) {
    throw invalid(method, 'cron', "nothing says when: give one of 'cron', 'daily', 'every', 'at' and 'in'")
  }
  if (second !== undefined) {
    throw invalid(method, second, `both '${when}' and '${second}' say when: leave one of them out`)
  }
  for (const name of given) {
    const fits = takes[name]
    if (fits === undefined || fits.includes(when)) continue
    const list = fits.map((fit) => `'${fit}'`).join(', ')
    throw invalid(method, name, `'${name}' goes with ${list} only, not with '${when}': leave it out`)
  }
  if (options.durable === true && options.key === undefined) {
    throw invalid(method, 'durable', "'key' is missing: nothing would find the job that 'durable' keeps")
  }
  return Object.freeze({ job, options: Object.freeze({ ...options }) })
}

/** What is said of a job where it is defined, and what else says it of one that is stored. */
const ofDefinition: Readonly<Record<string, string | null>> = {
  retry: 'withRetry',
  timeoutMs: 'withTimeout',
  disallowConcurrentExecution: 'disallowConcurrentExecution',
  persistJobDataAfterExecution: 'persistJobDataAfterExecution',
  schema: null,
}

/** Other schedulers take these with a schedule: the name alone would not tell where they belong. */
function refuseOptionsOfJob(method: string, options: object): void {
  for (const name of Object.keys(options)) {
    const isOfRetry = name === 'attempts' || name === 'backoff'
    const option = isOfRetry ? 'retry' : name
    const builderMethod = Object.hasOwn(ofDefinition, option) ? ofDefinition[option] : undefined
    if (builderMethod === undefined) continue
    const what = isOfRetry ? `'${name}' is a field of 'retry', which belongs` : `'${name}' belongs`
    const example = option === 'retry' ? '{ retry: { attempts: 3 } }' : `{ ${option} }`
    const where = `pass it to defineJob, as in defineJob('report', run, ${example})`
    const or = builderMethod === null ? '' : `, or to ${builderMethod} of JobBuilder and use scheduleJob`
    throw invalid(method, name, `${what} to the job, not to its schedule: ${where}${or}`)
  }
}

/** A set is declared at each start: what it does not find there it would run anew. */
function refuseDurable(method: string, { durable }: ScheduleOptions<object>): void {
  if (durable === undefined) return
  const remedy = "a set stores again what is not there. Leave it out, or use 'schedule'"
  throw invalid(method, 'durable', `'durable' is not for the schedules of a set: ${remedy}`)
}

function invalid(method: string, field: string, problem: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${method}: ${problem}.`, 'ERR_INVALID_OPTION')
}

/** By shape: any object with these fields is a definition. It is checked again, because anybody may have made it. */
const checkScheduleDefinition: ArgumentCheck = (method, argument, value, code) => {
  checkThat(
    'what defineSchedule returned',
    (given) => typeof given === 'object' && given !== null && 'job' in given && 'options' in given,
  )(method, argument, value, code)
  const { job, options } = value as ScheduleDefinition
  // A set may have hundreds: the message says which one it is.
  const which = `${method}, ${argument}${keyText(options)}`
  jobSchedule(which, job, options)
  refuseDurable(which, options)
  checkTimes(which, options)
}

function keyText(options: unknown): string {
  const key: unknown = isObject(options) ? Reflect.get(options, 'key') : undefined
  if (isJobKey(key)) return ` '${key.toString()}'`
  return typeof key === 'string' ? ` '${key}'` : ''
}

/** Most schedules of one set. */
const schedulesMax = 1000

/** A database could not keep the others, or would not find the set again. */
const setName = checkThat(
  'a name of at most 200 characters that is not blank, without NUL and halves of surrogate pairs',
  (value) =>
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= 200 &&
    !/[\0\p{Surrogate}]/u.test(value),
)

/**
 * Checks the arguments of `reconcile`; answers its options.
 *
 * @throws InvalidArgumentError naming the argument, or the schedule that has no key of its own
 */
export function checkedReconcile(
  name: unknown,
  schedules: readonly ScheduleDefinition[],
  options: ReconcileOptions,
): ReconcileOptions {
  const method = 'reconcile'
  setName(method, 'name', name)
  checkDefinitions(method, 'schedules', schedules)
  checkOptions(method, options, {
    version: checkWhole(0, Number.MAX_SAFE_INTEGER),
    dryRun: checkBoolean,
  })
  return options
}

/** Definitions with a key of their own each. */
export const checkDefinitions: ArgumentCheck = (method, argument, value, code) => {
  listOf(checkScheduleDefinition)(method, argument, value, code)
  const definitions = value as readonly JobSchedule[]
  if (definitions.length > schedulesMax) {
    throw wrongArgument(method, argument, `at most ${schedulesMax} schedules`, value, { code })
  }
  const keys = new Set<string>()
  for (const [index, { options }] of definitions.entries()) {
    const { key } = options
    const field = `${argument}[${index}].key`
    if (key === undefined)
      throw invalid(method, field, `'${field}' is missing: in a set each schedule needs a key`)
    const text = JSON.stringify(typeof key === 'string' ? ['DEFAULT', key] : [key.group, key.name])
    if (keys.has(text)) throw invalid(method, field, `'${field}' is there twice: remove one, or rename it`)
    keys.add(text)
  }
}
