import {
  type ArgumentCheck,
  checkBoolean,
  checkDate,
  checkName,
  checkNumber,
  checkObject,
  checkOneOf,
  checkOptions,
  checkString,
  checkThat,
  checkUntil,
  checkWhole,
  listOf,
  orNull,
  wrongArgument,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { checkJobKey, checkTriggerKey, isJobKey, isTriggerKey, type TriggerKey } from '../core/key.ts'
import { checkGroupMatcher } from '../core/matcher.ts'
import { isObject } from '../core/options.ts'
import { checkJobDetail, type JobDetail } from '../jobs/job-detail.ts'
import type { ChangeDefinitionsOptions, ReplaceOptions, RescheduleOptions } from '../jobs/schedule-options.ts'
import { auditOutcomes } from '../jobstore/audit.ts'
import type { DefinitionChanges } from '../jobstore/definition-changes.ts'
import { statusDaysMax } from '../jobstore/job-status.ts'
import { misfireCauses } from '../jobstore/misfires.ts'
import { executionOutcomes, queryLimits } from '../jobstore/queries.ts'
import { triggerStates } from '../jobstore/trigger-state.ts'
import { timerDelayMaxMs } from '../time/clock.ts'
import { checkCalendar } from '../triggers/calendars/calendar.ts'
import { checkTrigger, isTrigger, type Trigger } from '../triggers/trigger.ts'
import type { ShutdownOptions } from './shutdown-options.ts'

type OptionChecks = Readonly<Record<string, ArgumentCheck>>

// Checks of the arguments of scheduler methods that are more than one value of one kind.

const replaceOptions: OptionChecks = { replace: checkBoolean }

export const triggerJobOptions: OptionChecks = { by: checkName }

export const addJobOptions: OptionChecks = {
  replace: checkBoolean,
  storeNonDurableWhileAwaitingScheduling: checkBoolean,
}

/** Of calls that change one job, which they may expect to be as it was read. */
export const expectedJobOptions: OptionChecks = { expected: checkJobDetail }

/** Of calls that change one trigger, which they may expect to be as it was read. */
export const expectedTriggerOptions: OptionChecks = { expected: checkTrigger }

const rescheduleOptions: OptionChecks = {
  goesOnFrom: checkOneOf(['due', 'lastFire', 'start']),
  ...expectedTriggerOptions,
}

/** What takes the place of a trigger has its key, because the pause stays with the key. */
export function checkRescheduleOptions(
  triggerKey: TriggerKey,
  trigger: Trigger,
  options: RescheduleOptions,
): void {
  const method = 'rescheduleJob'
  checkOptions(method, options, rescheduleOptions)
  if (options.goesOnFrom === undefined || trigger.key.equals(triggerKey)) return
  throw new InvalidArgumentError(
    'goesOnFrom',
    `${method}: with 'goesOnFrom' the new trigger must have the key ${triggerKey.toString()}, ` +
      `got ${trigger.key.toString()}. Build it with withIdentity of that key.`,
    'ERR_INVALID_OPTION',
  )
}

export const addCalendarOptions: OptionChecks = { replace: checkBoolean, updateTriggers: checkBoolean }

const shutdownOptions: OptionChecks = {
  waitForJobsToComplete: checkBoolean,
  timeoutMs: checkWhole(0, timerDelayMaxMs),
  interruptAfterMs: checkWhole(0, timerDelayMaxMs),
}

/** @throws InvalidArgumentError ERR_INVALID_OPTION */
export function checkShutdown(options: ShutdownOptions): void {
  checkOptions('shutdown', options, shutdownOptions)
  if (options.interruptAfterMs === undefined || options.waitForJobsToComplete === true) return
  const problem = "shutdown: 'interruptAfterMs' needs 'waitForJobsToComplete: true'."
  throw new InvalidArgumentError('interruptAfterMs', problem, 'ERR_INVALID_OPTION')
}

export const pauseOptions: OptionChecks = {
  reason: checkShortText(1000),
  by: checkShortText(200),
  until: checkUntil,
}

export const resumeOptions: OptionChecks = { withoutMissed: checkBoolean }

/** A text that a database can keep: PostgreSQL has no NUL character, and half of a pair has no form in UTF-8. */
function checkShortText(max: number): ArgumentCheck {
  return checkThat(
    `a text that is not blank, of at most ${max} characters`,
    (value) =>
      typeof value === 'string' &&
      value.trim() !== '' &&
      value.length <= max &&
      !/[\0\p{Surrogate}]/u.test(value),
  )
}

/** The store checks its bounds. */
const take = checkNumber

const search = checkThat(
  `text of at most ${queryLimits.searchLength} characters`,
  (value) => typeof value === 'string' && value.length <= queryLimits.searchLength,
)

const jobGroups: ArgumentCheck = (method, argument, value, code) => {
  listOf(checkString)(method, argument, value, code)
  if (Array.isArray(value) && value.length > queryLimits.jobGroups) {
    throw wrongArgument(method, argument, `a list of at most ${queryLimits.jobGroups} groups`, value, {
      code,
    })
  }
}

export const jobQuery: OptionChecks = {
  take,
  after: checkJobKey,
  group: checkGroupMatcher,
  jobGroups,
  jobType: checkString,
  search,
}

const triggerConditions: OptionChecks = {
  group: checkGroupMatcher,
  name: checkString,
  jobKey: checkJobKey,
  jobGroups,
  jobType: checkString,
  calendarName: checkString,
  dueBefore: checkDate,
  search,
}

const checkState = checkOneOf(triggerStates)

export const triggerQuery: OptionChecks = {
  take,
  after: checkTriggerKey,
  ...triggerConditions,
  state: (method, argument, value, code) => {
    if (Array.isArray(value)) listOf(checkState)(method, argument, value, code)
    else checkState(method, argument, value, code)
  },
}

export const nextTriggerQuery: OptionChecks = {
  take,
  after: checkThat(
    "what a page has as 'next'",
    (value) =>
      isObject(value) &&
      Number.isSafeInteger(Reflect.get(value, 'nextFireTimeMs')) &&
      Number.isSafeInteger(Reflect.get(value, 'priority')) &&
      isTriggerKey(Reflect.get(value, 'key')),
  ),
  ...triggerConditions,
}

/** At most as many keys as one page of a list has. */
export const checkTriggerKeys: ArgumentCheck = (method, argument, value, code) => {
  listOf(checkTriggerKey)(method, argument, value, code)
  if (Array.isArray(value) && value.length > 1000)
    throw wrongArgument(method, argument, 'a list of at most 1000 keys', value, { code })
}

/** One outcome, or several. */
const checkOutcomes: ArgumentCheck = (method, argument, value, code) => {
  const check = checkOneOf(executionOutcomes)
  if (Array.isArray(value)) listOf(check)(method, argument, value, code)
  else check(method, argument, value, code)
}

export const executionLogQuery: OptionChecks = {
  take,
  after: checkWhole(0, 2_147_483_647),
}

export const checkJobKeys: ArgumentCheck = (method, argument, value, code) => {
  listOf(checkJobKey)(method, argument, value, code)
  if ((value as readonly unknown[]).length > 1000) {
    throw wrongArgument(method, argument, 'at most 1,000 keys', value, { code })
  }
}

export const executionQuery: OptionChecks = {
  take,
  after: checkThat(
    "what a page has as 'next'",
    (value) =>
      isObject(value) &&
      typeof Reflect.get(value, 'fireTimeMs') === 'number' &&
      typeof Reflect.get(value, 'fireInstanceId') === 'string',
  ),
  jobKey: checkJobKey,
  triggerKey: checkTriggerKey,
  node: checkString,
  jobGroup: checkString,
  outcome: checkOutcomes,
  laterThanMs: checkNumber,
  tookLongerThanMs: checkNumber,
  firingId: checkString,
  errorContains: checkString,
  data: checkThat(
    'an object such as { key, value }, of texts',
    (value) =>
      isObject(value) &&
      typeof Reflect.get(value, 'key') === 'string' &&
      typeof Reflect.get(value, 'value') === 'string',
  ),
  manual: checkBoolean,
  from: checkDate,
  to: checkDate,
}

/** One cause, or several. */
const checkCauses: ArgumentCheck = (method, argument, value, code) => {
  const check = checkOneOf(misfireCauses)
  if (Array.isArray(value)) listOf(check)(method, argument, value, code)
  else check(method, argument, value, code)
}

export const misfireCountQuery: OptionChecks = { from: checkDate, to: checkDate }

export const misfireQuery: OptionChecks = {
  take,
  after: checkThat(
    "what a page has as 'next'",
    (value) =>
      isObject(value) &&
      typeof Reflect.get(value, 'noticedTimeMs') === 'number' &&
      typeof Reflect.get(value, 'id') === 'string',
  ),
  jobKey: checkJobKey,
  triggerKey: checkTriggerKey,
  jobGroup: checkString,
  cause: checkCauses,
  from: checkDate,
  to: checkDate,
}

export const jobStatusQuery: OptionChecks = {
  take,
  after: checkJobKey,
  jobKeys: checkJobKeys,
  minConsecutiveFailures: checkWhole(0, Number.MAX_SAFE_INTEGER),
  days: checkWhole(0, statusDaysMax),
}

export const auditQuery: OptionChecks = {
  take,
  after: checkThat(
    "what a page has as 'next'",
    (value) =>
      isObject(value) &&
      typeof Reflect.get(value, 'timeMs') === 'number' &&
      typeof Reflect.get(value, 'id') === 'string',
  ),
  by: checkString,
  operation: checkString,
  targetGroup: checkString,
  targetName: checkString,
  outcome: checkOneOf(auditOutcomes),
  node: checkString,
  from: checkDate,
  to: checkDate,
}

const anything: ArgumentCheck = () => {}

const auditNote: OptionChecks = {
  operation: checkName,
  by: checkString,
  address: checkString,
  targetGroup: checkString,
  targetName: checkString,
  outcome: checkOneOf(auditOutcomes),
  error: checkString,
  request: anything,
  before: anything,
  after: anything,
}

/** @throws InvalidArgumentError naming the argument */
export function checkAuditNote(note: unknown): void {
  checkObject('recordAudit', 'note', note)
  checkOptions('recordAudit', note, auditNote, 'note')
  checkName('recordAudit', 'operation', Reflect.get(Object(note) as object, 'operation'))
}

/** A job key, or what names one execution. */
export const checkInterruptTarget: ArgumentCheck = checkThat(
  'a JobKey or an object with a fireInstanceId',
  (value) => isJobKey(value) || (isObject(value) && typeof Reflect.get(value, 'fireInstanceId') === 'string'),
  "Make a key with jobKey('name', 'group').",
)

/** One trigger or several. */
const checkTriggers: ArgumentCheck = (method, argument, value, code) => {
  if (Array.isArray(value)) listOf(checkTrigger)(method, `${argument}s`, value, code)
  else checkTrigger(method, argument, value, code)
}

/** What `scheduleJob` takes: a trigger and options; or a job, its trigger or triggers, and options. */
export type ScheduleJobCall =
  | readonly [trigger: Trigger, options?: ReplaceOptions | undefined]
  | readonly [
      jobDetail: JobDetail,
      triggers: Trigger | readonly Trigger[],
      options?: ReplaceOptions | undefined,
    ]

export function isTriggerCall(
  call: ScheduleJobCall,
): call is readonly [Trigger, (ReplaceOptions | undefined)?] {
  return isTrigger(call[0])
}

/** @throws InvalidArgumentError naming the argument */
export function checkScheduleJob([first, second, third]: readonly unknown[]): void {
  const method = 'scheduleJob'
  if (isTrigger(first) && !isTrigger(second)) {
    if (isObject(second) && 'jobType' in second) {
      throw wrongArgument(method, 'jobDetail', 'a JobDetail', first, {
        remedy: 'The job goes before its trigger.',
      })
    }
    checkOptions(method, second, replaceOptions)
    return
  }
  checkJobDetail(method, 'jobDetail', first)
  checkTriggers(method, 'trigger', second)
  checkOptions(method, third, replaceOptions)
}

/** Jobs with their triggers. */
export const checkEntries: ArgumentCheck = listOf((method, argument, value, code) => {
  if (!isObject(value)) {
    throw wrongArgument(method, argument, 'an object such as { job, triggers }', value, { code })
  }
  orNull(checkJobDetail)(method, `${argument}.job`, Reflect.get(value, 'job'), code)
  listOf(checkTrigger)(method, `${argument}.triggers`, Reflect.get(value, 'triggers'), code)
})

const checkNamedCalendars: ArgumentCheck = listOf((method, argument, value, code) => {
  if (!isObject(value)) {
    throw wrongArgument(method, argument, 'an object such as { name, calendar }', value, { code })
  }
  checkName(method, `${argument}.name`, Reflect.get(value, 'name'), code)
  checkCalendar(method, `${argument}.calendar`, Reflect.get(value, 'calendar'), code)
})

const definitionChanges: OptionChecks = {
  calendars: checkNamedCalendars,
  entries: checkEntries,
  keepsJobData: checkBoolean,
  removedTriggers: listOf(checkTriggerKey),
  removedJobs: listOf(checkJobKey),
  removedCalendars: listOf(checkName),
}

export function checkDefinitionChanges(
  changes: Partial<DefinitionChanges>,
  options: ChangeDefinitionsOptions,
): void {
  checkObject('changeDefinitions', 'changes', changes)
  checkOptions('changeDefinitions', changes, definitionChanges, 'changes')
  checkOptions('changeDefinitions', options, { dryRun: checkBoolean })
}
