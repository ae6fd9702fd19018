import { type ErrorCode, InvalidArgumentError } from './errors.ts'
import { describeValue, isDataObject, isObject, refuseUnknownKeys } from './options.ts'
import { isThenable, unawaited } from './promises.ts'

/**
 * Checks one argument of a public method, or one field of its options, and throws what {@link wrongArgument} makes.
 * Only the public face checks its arguments; the code below it trusts its types.
 */
export type ArgumentCheck = (method: string, argument: string, value: unknown, code?: ErrorCode) => void

/** What a caller gets for a wrong argument: which method, which argument, what it must be, what came, what to do. */
export function wrongArgument(
  method: string,
  argument: string,
  wanted: string,
  value: unknown,
  options: { readonly remedy?: string | undefined; readonly code?: ErrorCode | undefined } = {},
): InvalidArgumentError {
  const problem = `${method}: '${argument}' must be ${wanted}, got ${describeValue(value)}.`
  const remedy = builderRemedy(value) ?? options.remedy
  const message = remedy === undefined ? problem : `${problem} ${remedy}`
  return new InvalidArgumentError(argument, message, options.code)
}

/**
 * Refuses `new` by a caller of a class that makes its instances itself: plain JavaScript sees no private constructor.
 *
 * @param factory - the call that makes one
 */
export function refuseNew(className: string, argument: string, value: unknown, factory: string): never {
  const problem = `new ${className}: instances are made by ${factory}, got ${describeValue(value)}.`
  throw new InvalidArgumentError(argument, problem)
}

/** A check by a predicate. */
export function checkThat(
  wanted: string,
  isRight: (value: unknown) => boolean,
  remedy?: string,
): ArgumentCheck {
  return (method, argument, value, code) => {
    if (isRight(value)) return
    throw wrongArgument(method, argument, wanted, value, { code, remedy })
  }
}

/** A check of a secret: one that is wrong is not in the message, which logs have. */
export function checkSecret(wanted: string, isRight: (value: unknown) => boolean): ArgumentCheck {
  return (method, argument, value, code) => {
    if (isRight(value)) return
    throw new InvalidArgumentError(argument, `${method}: '${argument}' must be ${wanted}.`, code)
  }
}

/** A secret that is long enough not to be guessed. */
export function checkLongSecret(minLength: number): ArgumentCheck {
  return checkSecret(
    `text of ${minLength} characters or more`,
    (value) => typeof value === 'string' && value.length >= minLength,
  )
}

export const checkBoolean: ArgumentCheck = checkThat('true or false', (value) => typeof value === 'boolean')
export const checkFunction: ArgumentCheck = checkThat('a function', (value) => typeof value === 'function')
export const checkString: ArgumentCheck = checkThat('text', (value) => typeof value === 'string')
export const checkNumber: ArgumentCheck = checkThat(
  'a number',
  (value) => typeof value === 'number' && !Number.isNaN(value),
)
export const checkObject: ArgumentCheck = checkThat('an object', isObject)
export const checkData: ArgumentCheck = checkThat('an object with a field for each entry', isDataObject)
export const isName = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
export const checkName: ArgumentCheck = checkThat('a name that is not blank', isName)

/** Whether it is the name of a host as URLs have it: without scheme and port, in small letters, IPv6 in brackets. */
export function isHostName(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(`http://${value}`)) return false
  return new URL(`http://${value}`).hostname === value
}

export const checkHostName: ArgumentCheck = checkThat(
  "the name of a host such as 'ops.example.com' or '[::1]', without scheme and port, in small letters",
  isHostName,
)

/** Whether it is what browsers send as Origin: scheme, host, and the port where it is not the scheme's own. */
export function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value
}

export const checkOrigin: ArgumentCheck = checkThat(
  'an origin such as https://ops.example.com, without a path',
  isOrigin,
)

export const checkDate: ArgumentCheck = checkThat(
  'a valid Date',
  (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  "Pass a Date, such as new Date('2030-01-01T00:00:00Z').",
)

/** A Date until which something lasts, which many will think of as a duration. */
export const checkUntil: ArgumentCheck = checkThat(
  'a valid Date',
  (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  'Pass a Date; for two hours from now, new Date(Date.now() + 2 * 3_600_000).',
)

/** A whole number within its bounds. */
export function checkWhole(min: number, max: number): ArgumentCheck {
  return checkThat(
    `a whole number from ${min} to ${max}`,
    (value) => typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max,
  )
}

/** One of a closed list of texts. */
export function checkOneOf(known: readonly string[]): ArgumentCheck {
  return checkThat(`one of ${known.map((name) => `'${name}'`).join(', ')}`, (value) =>
    known.some((name) => name === value),
  )
}

/** Null, or what the check takes. */
export function orNull(check: ArgumentCheck): ArgumentCheck {
  return (method, argument, value, code) => {
    if (value !== null) check(method, argument, value, code)
  }
}

/** An array of what the check takes; an error names the place, as in `triggers[1]`. */
export function listOf(check: ArgumentCheck): ArgumentCheck {
  return (method, argument, value, code) => {
    if (!Array.isArray(value)) throw wrongArgument(method, argument, 'an array', value, { code })
    // By index: `forEach` would skip holes.
    for (let index = 0; index < value.length; index++)
      check(method, `${argument}[${index}]`, value[index], code)
  }
}

/** An object that has these methods: for what users may implement on their own. */
export function checkMethods(wanted: string, methods: readonly string[], remedy?: string): ArgumentCheck {
  return checkThat(wanted, (value) => hasMethods(value, methods), remedy)
}

/** What can be aborted. */
export const checkSignal: ArgumentCheck = checkMethods('an AbortSignal', [
  'addEventListener',
  'removeEventListener',
])

export function hasMethods(value: unknown, methods: readonly string[]): boolean {
  const isPossible = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isPossible && methods.every((name) => typeof Reflect.get(value, name) === 'function')
}

/**
 * Checks an object of options: left out or an object, with no name that is not known, each field that is there by its
 * check.
 *
 * @param path what fields of errors begin with, such as `auth.`
 * @throws InvalidArgumentError ERR_INVALID_ARGUMENT for what is no object, ERR_INVALID_OPTION for a name or a field
 */
export function checkOptions(
  method: string,
  options: unknown,
  checks: Readonly<Record<string, ArgumentCheck>>,
  argument: string = 'options',
  path: string = '',
): void {
  if (options === undefined) return
  // A builder has no fields of its own, so the check of names would let it pass.
  if (hasMethods(options, ['build'])) throw wrongArgument(method, argument, 'an object of options', options)
  refuseUnknownKeys(method, options, Object.keys(checks), argument, path)
  for (const [name, check] of Object.entries(checks)) {
    const value = valueOf(method, options, name, path)
    if (value !== undefined) check(method, `${path}${name}`, value, 'ERR_INVALID_OPTION')
  }
}

/** @throws InvalidArgumentError naming the option when its getter throws */
function valueOf(method: string, options: object, name: string, path: string): unknown {
  try {
    return Reflect.get(options, name)
  } catch (error) {
    const field = `${path}${name}`
    const why = error instanceof Error ? error.message : describeValue(error)
    const message = `${method}: '${field}' cannot be read: ${why}. Mend its getter, or pass a value.`
    throw new InvalidArgumentError(field, message, 'ERR_INVALID_OPTION', { cause: error })
  }
}

/** The same for options that have to be given, with the fields that have to be there. */
export function requireOptions<Name extends string>(
  method: string,
  options: unknown,
  checks: Readonly<Record<Name, ArgumentCheck>>,
  required: readonly Name[],
): void {
  checkObject(method, 'options', options)
  checkOptions(method, options, checks)
  for (const name of required) {
    checks[name](method, name, Reflect.get(options as object, name), 'ERR_INVALID_OPTION')
  }
}

/** An object with no name that is not known; the required fields, by default all, have to be there. */
export function checkRecord<Name extends string>(
  checks: Readonly<Record<Name, ArgumentCheck>>,
  required: readonly Name[] = Object.keys(checks) as Name[],
): ArgumentCheck {
  return (method, argument, value, code) => {
    checkObject(method, argument, value, code)
    checkOptions(method, value, checks, argument)
    for (const name of required) {
      checks[name](method, `${argument}.${name}`, Reflect.get(value as object, name), code)
    }
  }
}

/**
 * Refuses a promise as the answer of a function that begins something and is not waited for: what ends it, which the
 * promise resolves to, would never be called.
 */
export function refusePromise(name: string, of: string, answer: unknown): void {
  const remedy = 'Begin the work there, handle its failure, and return a function that ends it.'
  refuseThenable(answer, { name, of, remedy, code: 'ERR_INVALID_OPTION' })
}

/** Refuses a promise as the answer to a question of yes or no: it would count as yes, and its failure would be lost. */
export function requireAnswerNow(name: string, of: string, answer: unknown, code: ErrorCode): void {
  refuseThenable(answer, { name, of, remedy: 'Answer true or false there, from what is known.', code })
}

function refuseThenable(
  answer: unknown,
  {
    name,
    of,
    remedy,
    code,
  }: Readonly<Record<'name' | 'of' | 'remedy', string>> & { readonly code: ErrorCode },
): void {
  if (!isThenable(answer)) return
  unawaited(answer, () => {})
  throw new InvalidArgumentError(
    name,
    `The '${name}' of ${of} must not return a promise, because it is not waited for. ${remedy}`,
    code,
  )
}

/** What to do about a builder that was given in place of what it builds. */
function builderRemedy(value: unknown): string | undefined {
  return hasMethods(value, ['build'])
    ? 'This is a builder: call build() on it and pass what that answers.'
    : undefined
}
