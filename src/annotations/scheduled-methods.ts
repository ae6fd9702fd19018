import { isDeepStrictEqual } from 'node:util'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import {
  requireReachableMembers,
  type ScheduledContext,
  type ScheduledMethod,
  schedulesOf,
} from './scheduled.ts'
import type { ScheduledOptions } from './scheduled-options.ts'

/** A scheduled method of one object, with one of its schedules. */
export interface ScheduledMethodOf {
  /** The name that was given, or `Class.method`. */
  readonly name: string
  /** `Class.method`, whatever name was given. */
  readonly methodName: string
  /** The object. */
  readonly target: object
  readonly options: ScheduledOptions
  run(context: ScheduledContext): unknown
}

/**
 * The scheduled methods of objects, and the static ones of classes among them, in order. An object counts once: a
 * container may know it by several names.
 *
 * @throws InvalidArgumentError for what has no scheduled method, and for a method with one schedule twice
 */
export function scheduledMethodsOf(instances: readonly object[]): ScheduledMethodOf[] {
  return instances.flatMap((target, index) => {
    if (instances.indexOf(target) < index) return []
    const given: unknown = target
    const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function'
    const methods = isObject ? methodsOf(target) : []
    if (methods.length > 0) return methods
    const hint =
      typeof given === 'function'
        ? `class '${given.name}' has no static method with @Scheduled. For its instance methods pass an instance`
        : `${isObject ? `an instance of '${classNameOf(target)}'` : describeValue(given)} has no method with @Scheduled`
    throw new InvalidArgumentError('instances', `enableScheduling: instances[${index}]: ${hint}.`)
  })
}

/**
 * Whether an object has a method with `@Scheduled`, so that `enableScheduling` takes it; for containers, which have
 * others as well. A class counts for its static methods.
 *
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT for what is no object
 */
export function hasScheduledMethods(instance: object): boolean {
  const given: unknown = instance
  const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function'
  if (!isObject) {
    throw new InvalidArgumentError(
      'instance',
      `hasScheduledMethods takes an object, got ${describeValue(given)}.`,
    )
  }
  // Lists and buffers, whose members may be millions.
  if (Array.isArray(given) || ArrayBuffer.isView(given)) return false
  return memberNamesOf(instance).some((member) => schedulesOf(functionOf(instance, member)).length > 0)
}

function methodsOf(target: object): ScheduledMethodOf[] {
  requireReachableMembers(target)
  const className = classNameOf(target)
  const memberOf = new Map<unknown, string>()
  return memberNamesOf(target).flatMap((member) => {
    const found = functionOf(target, member)
    const schedules = schedulesOf(found)
    const methodName = `${className}.${String(member)}`
    const other = memberOf.get(found)
    if (other !== undefined && schedules.length > 1) {
      throw new InvalidArgumentError(
        'options',
        `@Scheduled ${methodName}: ${other} is the same function, so both would run by the schedules of both. ` +
          'Give each a function of its own, such as () => f().',
      )
    }
    memberOf.set(found, methodName)
    if (
      schedules.some((one, index) => schedules.slice(0, index).some((other) => isDeepStrictEqual(one, other)))
    ) {
      throw new InvalidArgumentError(
        'options',
        `@Scheduled ${methodName}: one schedule is there twice. Remove one; call 'scheduled' once for a function, ` +
          'beside the class and not in its constructor.',
      )
    }
    return schedules.map((options) => ({
      name: options.name ?? methodName,
      methodName,
      target,
      options,
      run: (context) => {
        const method = Reflect.get(target, member) as ScheduledMethod<object>
        return method.call(target, context)
      },
    }))
  })
}

/** Own and inherited members, those of base classes first, each once. */
function memberNamesOf(target: object): (string | symbol)[] {
  const names: (string | symbol)[][] = []
  for (let holder: object | null = target; holder !== null && !isRoot(holder); ) {
    names.unshift(Reflect.ownKeys(holder))
    holder = Reflect.getPrototypeOf(holder)
  }
  return [...new Set(names.flat())]
}

/** The function of a member; a getter is not called. */
function functionOf(target: object, member: string | symbol): unknown {
  for (let holder: object | null = target; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    const found = Reflect.getOwnPropertyDescriptor(holder, member)
    if (found !== undefined) return found.value
  }
  return undefined
}

function isRoot(holder: object): boolean {
  return holder === Object.prototype || holder === Function.prototype
}

function classNameOf(target: object): string {
  if (typeof target === 'function') return target.name
  const constructor: unknown = Reflect.get(target, 'constructor')
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'Object'
}
