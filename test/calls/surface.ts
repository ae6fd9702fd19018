import { SchedulerError } from '../../src/index.ts'
import type { Kind } from './kinds.ts'

/** The arguments of a call, in order, by their names. */
export type Call = Readonly<Record<string, Kind>>

/** Why a member stands in no table. */
export interface Exempt {
  readonly because: string
}

/** What is called, its methods by name; several calls are overloads. `new` is the constructor. */
export interface Surface {
  readonly name: string
  readonly subject: object
  readonly calls: Readonly<Record<string, Call | readonly Call[] | Exempt>>
  /** Its methods answer promises, which reject; those that are named here throw. */
  readonly rejects?: { readonly except: readonly string[] }
}

export interface WrongCall {
  readonly title: string
  readonly field: string
  readonly code: string
  readonly mayThrow: boolean
  readonly invoke: () => unknown
}

/** Every wrong call of a surface: one argument is wrong, the others are right. */
export function wrongCallsOf({ name, subject, calls, rejects }: Surface): WrongCall[] {
  return Object.entries(calls).flatMap(([method, given]) => {
    if (isExempt(given)) return []
    const mayThrow = rejects === undefined || rejects.except.includes(method)
    return [given].flat().flatMap((call: Call) =>
      Object.entries(call).flatMap(([argument, kind], index) =>
        kind.wrong.map(({ value, field = argument, code = kind.code }) => {
          const args = Object.values(call).map((each) => each.good)
          args[index] = value
          return {
            title: `${name}.${method}(${argument}: ${shown(value)})`,
            field: /^[.[]/.test(field) ? `${argument}${field}` : field,
            code,
            mayThrow,
            invoke: () => invoke(subject, method, args),
          }
        }),
      ),
    )
  })
}

/** Names of the methods that a subject has: own ones of a class or namespace, those of its classes for an instance. */
export function methodsOf(subject: object): string[] {
  const holders = isInstance(subject) ? prototypesOf(subject) : [subject]
  const names = holders.flatMap((holder) =>
    Object.getOwnPropertyNames(holder).filter((name) => {
      const descriptor = Object.getOwnPropertyDescriptor(holder, name)
      return (
        typeof Reflect.get(descriptor ?? {}, 'value') === 'function' &&
        name !== 'constructor' &&
        name !== 'prototype'
      )
    }),
  )
  return [...new Set(names)]
}

/** The class of an instance and the classes that it extends. */
function prototypesOf(instance: object): object[] {
  const found: object[] = []
  let holder: unknown = Object.getPrototypeOf(instance)
  while (typeof holder === 'object' && holder !== null && holder !== Object.prototype) {
    found.push(holder)
    holder = Object.getPrototypeOf(holder)
  }
  return found
}

/** The error of a wrong call; fails when there is none, and when one is thrown where a promise was to reject. */
export async function errorOf({ invoke: call, mayThrow }: WrongCall): Promise<unknown> {
  let answer: unknown
  try {
    answer = call()
  } catch (error) {
    if (mayThrow || !SchedulerError.is(error)) return error
    return new Error('It threw, where the promise was to reject.', { cause: error })
  }
  try {
    await answer
  } catch (error) {
    return error
  }
  return new Error('Nothing was refused.')
}

export function isExempt(value: Call | readonly Call[] | Exempt): value is Exempt {
  return typeof Reflect.get(value, 'because') === 'string'
}

function isInstance(subject: object): boolean {
  if (typeof subject === 'function') return false
  const prototype: unknown = Object.getPrototypeOf(subject)
  return prototype !== Object.prototype && prototype !== null
}

function invoke(subject: object, method: string, args: readonly unknown[]): unknown {
  if (method === 'new') return Reflect.construct(subject as new (...given: unknown[]) => object, args)
  return Reflect.apply(Reflect.get(subject, method) as (...given: unknown[]) => unknown, subject, args)
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`
  if (isInstance(value)) return `a ${value.constructor.name}`
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${key}: ${shown(each)}`)
    .join(', ')} }`
}
