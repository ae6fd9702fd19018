import { checkName, checkOptions } from '../../../core/arguments.ts'
import { InvalidArgumentError } from '../../../core/errors.ts'
import { describeValue, isObject } from '../../../core/options.ts'
import type { XxlJobContext } from '../run-context.ts'
import type { XxlJobHandlerObject } from './xxl-job-handler.ts'

/** Options of `@XxlJob`. */
export interface XxlJobDecoratorOptions {
  /** The method of the same object to call before the first run. Default none. */
  readonly init?: string
  /** The method of the same object to call after the last run. Default none. */
  readonly destroy?: string
}

/** A method that can be a handler: its only parameter, if any, is the context. */
export type XxlJobMethod<This = unknown> = (this: This, context: XxlJobContext) => unknown

/** The type of `@XxlJob(...)`: a method decorator, as the standard has it and under `experimentalDecorators`. */
export interface XxlJobDecorator {
  <This>(method: XxlJobMethod<This>, context: ClassMethodDecoratorContext<This, XxlJobMethod<This>>): void
  (holder: object, name: string | symbol, descriptor: { readonly value?: XxlJobMethod<never> }): void
}

interface HandlerNote {
  readonly name: string
  readonly init: string | null
  readonly destroy: string | null
}

/** The property of a function that says of which handler it is; the same for all copies of this package. */
const noteKey = Symbol.for('quartz-ts/xxl-job')

/**
 * Makes a method the handler of this name, in the objects that are given to `createXxlJobExecutor` as `instances`.
 * Where other decorators wrap the method, it stands above them.
 *
 * @example
 * class Billing {
 *   \@XxlJob('invoices', { init: 'connect' })
 *   async invoices(context: XxlJobContext) {}
 *   async connect() {}
 * }
 *
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT, ERR_INVALID_OPTION when the class is defined
 */
export function XxlJob(name: string, options: XxlJobDecoratorOptions = {}): XxlJobDecorator {
  checkName('@XxlJob', 'name', name)
  checkOptions('@XxlJob', options, { init: checkName, destroy: checkName })
  const note: HandlerNote = { name, init: options.init ?? null, destroy: options.destroy ?? null }
  return (
    subject: object,
    context: ClassMethodDecoratorContext | string | symbol,
    descriptor?: { readonly value?: unknown },
  ) => {
    if (typeof context === 'string' || typeof context === 'symbol') {
      if (typeof descriptor?.value !== 'function') throw notAMethod()
      Object.defineProperty(descriptor.value, noteKey, { value: note, configurable: true })
      return
    }
    // A caller without types may have put it on something else.
    const { kind, private: isPrivate }: { readonly kind: unknown; readonly private: boolean } = context
    if (kind !== 'method' || isPrivate) throw notAMethod()
    Object.defineProperty(subject, noteKey, { value: note, configurable: true })
    context.addInitializer(function () {
      requireReachable(this, context.name, note)
    })
  }
}

/**
 * The handlers among the methods of an object, own and inherited; of a class its static ones.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for what has none, and for `init` or `destroy` that is no method
 */
export function handlersOf(instance: object, place: string): ReadonlyMap<string, XxlJobHandlerObject> {
  const given: unknown = instance
  const found = new Map<string, XxlJobHandlerObject>()
  if (isObject(given) || typeof given === 'function') {
    for (const member of membersOf(given)) {
      const note = noteOf(functionOf(given, member))
      if (note !== null) found.set(note.name, handlerOf(given, member, note))
    }
  }
  if (found.size > 0) return found
  throw invalid(`${place} (${describeValue(given)}) has no method with @XxlJob`)
}

function handlerOf(target: object, member: string | symbol, note: HandlerNote): XxlJobHandlerObject {
  const call = (name: string | symbol, args: readonly unknown[]): unknown => {
    return Reflect.apply(Reflect.get(target, name) as () => unknown, target, args)
  }
  for (const name of [note.init, note.destroy]) {
    if (name === null || typeof functionOf(target, name) === 'function') continue
    throw invalid(`@XxlJob('${note.name}') names '${name}', which is no method of the same object`)
  }
  const { init, destroy } = note
  return {
    execute: (context) => call(member, [context]),
    ...(init !== null && { init: () => call(init, []) }),
    ...(destroy !== null && { destroy: () => call(destroy, []) }),
  }
}

function noteOf(value: unknown): HandlerNote | null {
  if (typeof value !== 'function') return null
  const note: unknown = Object.getOwnPropertyDescriptor(value, noteKey)?.value
  return note === undefined ? null : (note as HandlerNote)
}

function membersOf(target: object): ReadonlySet<string | symbol> {
  const names = new Set<string | symbol>()
  for (let holder: object | null = target; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    if (holder === Object.prototype || holder === Function.prototype) break
    for (const name of Reflect.ownKeys(holder)) names.add(name)
  }
  return names
}

/** The function of a member; a getter is not called. */
function functionOf(target: object, member: string | symbol): unknown {
  for (let holder: object | null = target; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    const found = Reflect.getOwnPropertyDescriptor(holder, member)
    if (found !== undefined) return found.value
  }
  return undefined
}

/** Throws when another decorator wraps the method and so hides the note: the handler would not be found. */
function requireReachable(owner: unknown, member: string | symbol, note: HandlerNote): void {
  for (let holder: unknown = owner; holder !== null && holder !== undefined; ) {
    if (noteOf(Object.getOwnPropertyDescriptor(holder, member)?.value) === note) return
    holder = Object.getPrototypeOf(holder)
  }
  throw invalid(
    `@XxlJob('${note.name}') on '${String(member)}' is hidden by another decorator. ` +
      'Put @XxlJob above the decorators that wrap the method',
  )
}

function notAMethod(): InvalidArgumentError {
  return new InvalidArgumentError('method', '@XxlJob is for public methods of classes.')
}

function invalid(problem: string): InvalidArgumentError {
  return new InvalidArgumentError('instances', `createXxlJobExecutor: ${problem}.`, 'ERR_INVALID_OPTION')
}
