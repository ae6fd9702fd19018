/*
 * Where Java Quartz 2.3.2 does not read an expression of Quartz's dialect as this package does.
 */

/** Java ignores the step behind a name or a range of names. */
const stepBehindNames = /\b([a-z]{3}(?:-[a-z]{3})?)\/\d+/gi

/** An expression that Java wrote, as this package writes what Java means. */
export function asJavaMeans(expression: string): string {
  return expression.replace(stepBehindNames, '$1')
}

const dayOfMonth = [3]
const namedFields = [4, 5]

/** A way to write a field, by the place of the field in the expression. */
interface Difference {
  readonly places: readonly number[]
  readonly text: RegExp
  readonly problem: string
  readonly remedy: string
}

const differences: readonly Difference[] = [
  {
    places: dayOfMonth,
    text: /,.*L|L.*,/,
    problem: "cannot read 'L' in a list of days",
    remedy: 'Use a trigger for each day',
  },
  {
    places: dayOfMonth,
    text: /,.*W|W.*,/,
    problem: "takes the first day of a list with 'W' for the whole of it",
    remedy: 'Use a trigger for each day',
  },
  {
    places: dayOfMonth,
    text: /^L-0*(?:28|29|30)W$/,
    problem: "searches without end for a 'W' that far from the last day",
    remedy: 'Count back to L-27W at most',
  },
  {
    places: dayOfMonth,
    text: /^0*(?:29|30|31)W$/,
    problem: "also fires for a 'W' in months that do not have its day",
    remedy: "Use a day up to 28, or 'LW' for the last weekday",
  },
  {
    places: namedFields,
    text: /\d-[A-Z]|[A-Z]-\d/,
    problem: 'cannot read a range of a number and a name',
    remedy: 'Write both as names of three letters',
  },
  {
    places: namedFields,
    text: /[A-Z]\/\d/,
    problem: 'ignores the step behind a name',
    remedy: 'Write numbers for names',
  },
  {
    places: namedFields,
    text: /[A-Z]{4}[-#]|DAYL/,
    problem: 'reads three letters of a name, and then nothing more',
    remedy: 'Write names of three letters',
  },
]

/**
 * What Java makes of an expression that this package reads otherwise, and what to do about it, without the full stop;
 * null where both read it alike.
 */
export function differenceInJava(expression: string): string | null {
  const fields = expression.trim().toUpperCase().split(/\s+/)
  for (const { places, text, problem, remedy } of differences) {
    const field = places.map((place) => fields[place] ?? '').find((written) => text.test(written))
    if (field !== undefined) return `Java Quartz ${problem}, here '${field}'. ${remedy}`
  }
  return null
}
