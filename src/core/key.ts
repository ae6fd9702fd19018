import { type ArgumentCheck, checkThat, isName } from './arguments.ts'
import { InvalidArgumentError } from './errors.ts'
import { isObject } from './options.ts'

export const defaultGroup = 'DEFAULT'
/** Group of the triggers that a recovery creates. */
export const recoveringJobsGroup = 'RECOVERING_JOBS'
/** Group of the triggers that a retry creates. */
export const retryingJobsGroup = 'RETRYING_JOBS'
/** Group of the triggers that run the items of sharded jobs. */
export const shardedJobsGroup = 'SHARDED_JOBS'

export abstract class Key<Kind extends 'job' | 'trigger'> {
  /** A job key is never a trigger key, although both are a name and a group. */
  abstract get '~kind'(): Kind
  /** Unique within its group. */
  readonly name: string
  readonly group: string

  constructor(name: string, group: string = defaultGroup) {
    if (typeof name !== 'string' || name.trim() === '') {
      throw new InvalidArgumentError('name', 'A key needs a name that is not blank.')
    }
    if (typeof group !== 'string' || group.trim() === '') {
      throw new InvalidArgumentError(
        'group',
        `The group of key '${name}' is blank; leave it out for '${defaultGroup}'.`,
      )
    }
    this.name = name
    this.group = group
  }

  equals(other: Key<Kind>): boolean {
    return this.name === other.name && this.group === other.group
  }

  /** `group.name` */
  toString(): string {
    return `${this.group}.${this.name}`
  }
}

/**
 * Identity of a job within a scheduler. `Data` is the type of the job's data, where it is known: `triggerJob` then
 * checks what it is given.
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- callers that hold the key use it
export class JobKey<Data extends object = object> extends Key<'job'> {
  /** Has no value; carries the type. */
  declare readonly '~data'?: Data
  override get '~kind'(): 'job' {
    return 'job'
  }
}

/** Identity of a trigger within a scheduler. */
export class TriggerKey extends Key<'trigger'> {
  override get '~kind'(): 'trigger' {
    return 'trigger'
  }
}

// Subclasses instead of a field save memory where a million keys are stored.
class GeneratedJobKey extends JobKey {}
class GeneratedTriggerKey extends TriggerKey {}

/** The key of a job that was given no identity. */
export function generatedJobKey(name: string): JobKey {
  return new GeneratedJobKey(name)
}

/** The key of a trigger that was given no identity. */
export function generatedTriggerKey(name: string): TriggerKey {
  return new GeneratedTriggerKey(name)
}

/** Whether a builder generated the name: then each process generates another one. */
export function isGeneratedKey(key: JobKey | TriggerKey): boolean {
  return key instanceof GeneratedJobKey || key instanceof GeneratedTriggerKey
}

/** A key that another program may have stored. It is not checked: it may be blank. */
export function storedJobKey(name: string, group: string): JobKey {
  return isBlank(name, group) ? Object.assign(new JobKey('blank'), { name, group }) : new JobKey(name, group)
}

export function storedTriggerKey(name: string, group: string): TriggerKey {
  if (!isBlank(name, group)) return new TriggerKey(name, group)
  return Object.assign(new TriggerKey('blank'), { name, group })
}

function isBlank(name: string, group: string): boolean {
  return name.trim() === '' || group.trim() === ''
}

export function jobKey<Data extends object = object>(name: string, group?: string): JobKey<Data> {
  return new JobKey<Data>(name, group)
}

export function triggerKey(name: string, group?: string): TriggerKey {
  return new TriggerKey(name, group)
}

/** True for job keys, also those of a second copy of the package. */
export function isJobKey(value: unknown): value is JobKey {
  return isKeyOf('job', value)
}

/** True for trigger keys, also those of a second copy of the package. */
export function isTriggerKey(value: unknown): value is TriggerKey {
  return isKeyOf('trigger', value)
}

export const checkJobKey: ArgumentCheck = checkThat(
  'a JobKey',
  isJobKey,
  "Make one with jobKey('name', 'group').",
)

export const checkTriggerKey: ArgumentCheck = checkThat(
  'a TriggerKey',
  isTriggerKey,
  "Make one with triggerKey('name', 'group').",
)

const remedyOfJobKey = "Pass the name of a job in the group DEFAULT, or jobKey('name', 'group')."
const remedyOfTriggerKey = "Pass the name of a trigger in the group DEFAULT, or triggerKey('name', 'group')."

const checkJobKeyOrName = checkThat(
  'a JobKey or a name that is not blank',
  (value) => isJobKey(value) || isName(value),
  remedyOfJobKey,
)

const checkTriggerKeyOrName = checkThat(
  'a TriggerKey or a name that is not blank',
  (value) => isTriggerKey(value) || isName(value),
  remedyOfTriggerKey,
)

/** The key that an argument means: a name alone is one in the group `DEFAULT`. @throws InvalidArgumentError */
export function jobKeyOf(method: string, argument: string, key: JobKey | string): JobKey {
  checkJobKeyOrName(method, argument, key)
  return typeof key === 'string' ? new JobKey(key) : key
}

/** The same for a trigger. @throws InvalidArgumentError */
export function triggerKeyOf(method: string, argument: string, key: TriggerKey | string): TriggerKey {
  checkTriggerKeyOrName(method, argument, key)
  return typeof key === 'string' ? new TriggerKey(key) : key
}

/** A job key or a trigger key. */
export const checkKey: ArgumentCheck = checkThat(
  'a JobKey or a TriggerKey',
  (value) => isKeyOf('job', value) || isKeyOf('trigger', value),
  "Make one with jobKey('name', 'group') or triggerKey('name', 'group').",
)

function isKeyOf(kind: 'job' | 'trigger', value: unknown): boolean {
  return isObject(value) && Reflect.get(value, '~kind') === kind
}

/** Order of keys: group DEFAULT first, then group, then name, by UTF-16 code unit. */
export function compareKeys(a: { name: string; group: string }, b: { name: string; group: string }): number {
  if (a.group !== b.group) {
    if (a.group === defaultGroup) return -1
    if (b.group === defaultGroup) return 1
    return a.group < b.group ? -1 : 1
  }
  if (a.name === b.name) return 0
  return a.name < b.name ? -1 : 1
}

/** Quartz's notes in the data of a recovery trigger: which firing it runs again. All values are text. */
export const recoveryKeys = {
  triggerName: 'QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME',
  triggerGroup: 'QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP',
  fireTime: 'QRTZ_FAILED_JOB_ORIG_TRIGGER_FIRETIME_IN_MILLISECONDS_AS_STRING',
  scheduledFireTime: 'QRTZ_FAILED_JOB_ORIG_TRIGGER_SCHEDULED_FIRETIME_IN_MILLISECONDS_AS_STRING',
} as const
