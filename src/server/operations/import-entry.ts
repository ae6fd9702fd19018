import { CronExpressionError, InvalidArgumentError, SchedulerError } from '../../core/errors.ts'
import { describeValue } from '../../core/options.ts'

/** An entry of a file of definitions. */
export interface ImportEntry {
  readonly list: 'calendars' | 'jobs' | 'triggers'
  readonly index: number
  /** The name of a calendar; of others `group/name`. */
  readonly name: string
}

/** Makes something of an entry. What is wrong with it is thrown with its place: a file has thousands of entries. */
export function ofEntry<Made>({ list, index, name }: ImportEntry, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    throw placed(error, `definitions.${list}.${index}`, describeValue(name))
  }
}

function placed(error: unknown, place: string, name: string): unknown {
  if (!SchedulerError.is(error)) return error
  const message = `${place} (${name}): ${error.message}`
  const options = { cause: error }
  if (error instanceof CronExpressionError) {
    const field = `${place}.${error.field ?? 'expression'}`
    const { expression, position, suggestion } = error
    return new CronExpressionError(message, { expression, field, position, suggestion }, options)
  }
  if (!(error instanceof InvalidArgumentError)) return new SchedulerError(error.code, message, options)
  // What is wrong with data names its whole place already.
  if (error.field.startsWith(`${place}.`)) return error
  return new InvalidArgumentError(`${place}.${error.field}`, message, error.code, options)
}
