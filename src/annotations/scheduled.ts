import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import type { JobExecutionContext } from '../jobs/job-definition.ts'
import { checkScheduledOptions, type ScheduledOptions } from './scheduled-options.ts'

/** What a scheduled method is given. */
export interface ScheduledContext {
  /** Aborts when the run is to end. */
  readonly signal: AbortSignal
  /** In a cluster: the execution of the job that the method became. Null without one. */
  readonly execution: JobExecutionContext | null
}

/** A method that can be scheduled: its only parameter, if any, is the context. */
export type ScheduledMethod<This = unknown> = (this: This, context: ScheduledContext) => unknown

/** The type of `@Scheduled(...)`: a method decorator, as the standard has it and under `experimentalDecorators`. */
export interface ScheduledDecorator {
  <This>(
    method: ScheduledMethod<This>,
    context: ClassMethodDecoratorContext<This, ScheduledMethod<This>>,
  ): void
  (holder: object, name: string | symbol, descriptor: { readonly value?: ScheduledMethod<never> }): void
}

/** The property of a function that holds its schedules; the same for all copies of this package. */
const schedulesKey = Symbol.for('quartz-ts/scheduled')

/** The property of a class or its prototype that holds which members `experimentalDecorators` have scheduled. */
const membersKey = Symbol.for('quartz-ts/scheduled-members')

interface ScheduledMember {
  readonly name: string | symbol
  readonly options: ScheduledOptions
}

/**
 * Schedules a method of the objects, or a static method of the classes, that are given to `enableScheduling`. May be
 * repeated. Where other decorators wrap the method, it stands above them.
 *
 * @example
 * class Reports {
 *   \@Scheduled({ cron: '0 0 7 * * MON-FRI', zone: 'Europe/Paris' })
 *   async daily() {}
 * }
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION when the class is defined
 */
export function Scheduled(options: ScheduledOptions): ScheduledDecorator {
  const checked = checkScheduledOptions(options)
  return (
    subject: object,
    context: ClassMethodDecoratorContext | string | symbol,
    descriptor?: { readonly value?: unknown },
  ) => {
    const method = descriptor?.value
    if (typeof method === 'function' && (typeof context === 'string' || typeof context === 'symbol')) {
      addSchedule(method, checked)
      noteMember(subject, { name: context, options: checked })
      return
    }
    requireMethodContext(context)
    addSchedule(subject, checked)
    let isSeen = false
    context.addInitializer(function () {
      if (isSeen) return
      isSeen = true
      requireReachable(this, context.name, checked)
    })
  }
}

/**
 * The same without a decorator: notes the schedule on a function, such as a method or a property of an object that is
 * given to `enableScheduling`, and answers that function.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION, ERR_INVALID_ARGUMENT for what is no function
 */
export function scheduled<Method extends ScheduledMethod<never>>(
  options: ScheduledOptions,
  method: Method,
): Method {
  const given: unknown = method
  if (typeof given !== 'function') {
    throw new InvalidArgumentError(
      'method',
      `scheduled takes the options and the function to run, got ${describeValue(given)}.`,
    )
  }
  if (!Object.isExtensible(given)) {
    throw new InvalidArgumentError(
      'method',
      'scheduled notes the schedule on the function, and this one is frozen. Pass a function that calls it.',
    )
  }
  addSchedule(method, checkScheduledOptions(options))
  return method
}

/** The schedules of a function, in the order in which they are written. */
export function schedulesOf(value: unknown): readonly ScheduledOptions[] {
  if (typeof value !== 'function') return []
  const own: unknown = Object.getOwnPropertyDescriptor(value, schedulesKey)?.value
  return Array.isArray(own) ? (own as readonly ScheduledOptions[]) : []
}

function noteMember(holder: object, member: ScheduledMember): void {
  const value = Object.freeze([...membersOf(holder), member])
  Object.defineProperty(holder, membersKey, { value, configurable: true })
}

function membersOf(holder: object): readonly ScheduledMember[] {
  const own: unknown = Object.getOwnPropertyDescriptor(holder, membersKey)?.value
  return Array.isArray(own) ? (own as readonly ScheduledMember[]) : []
}

/**
 * Says so of an object whose scheduled methods other decorators hide; the standard decorator says it when the object
 * is made.
 *
 * @throws InvalidArgumentError
 */
export function requireReachableMembers(target: object): void {
  for (let holder: object | null = target; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    for (const { name, options } of membersOf(holder)) requireReachable(target, name, options)
  }
}

function requireMethodContext(context: unknown): asserts context is ClassMethodDecoratorContext {
  const has = (name: string): unknown =>
    typeof context === 'object' && context !== null ? Reflect.get(context, name) : undefined
  const kind = has('kind')
  if (kind === 'method' && has('private') !== true) return
  const problem =
    kind === 'method'
      ? `cannot reach the private method '${String(has('name'))}'. Schedule a public method that calls it`
      : kind === undefined
        ? 'is for methods. For a function in a field use scheduled(options, method)'
        : `is for methods, not for a ${describeValue(kind)}. For a function in a field use scheduled(options, method)`
  throw new InvalidArgumentError('method', `@Scheduled ${problem}.`)
}

function addSchedule(method: object, options: ScheduledOptions): void {
  if (Object.prototype.toString.call(method).includes('Generator')) {
    throw new InvalidArgumentError(
      'method',
      'A generator cannot be scheduled: its body would not run. Schedule a method that goes through its values.',
    )
  }
  // Decorators are applied from the last to the first.
  const value = Object.freeze([options, ...schedulesOf(method)])
  Object.defineProperty(method, schedulesKey, { value, configurable: true })
}

/** Throws when another decorator wraps the method and so hides its schedules: the task would never run. */
function requireReachable(owner: unknown, name: string | symbol, options: ScheduledOptions): void {
  for (let holder: unknown = owner; holder !== null && holder !== undefined; ) {
    const value: unknown = Object.getOwnPropertyDescriptor(holder, name)?.value
    if (schedulesOf(value).includes(options)) return
    holder = Object.getPrototypeOf(holder)
  }
  throw new InvalidArgumentError(
    'method',
    `@Scheduled on '${String(name)}' is hidden by another decorator, so the method would never run. ` +
      'Put @Scheduled above the decorators that wrap the method.',
  )
}
