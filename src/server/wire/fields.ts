import { z } from 'zod'

/** Text that any store can keep: PostgreSQL has no NUL character. */
export function textUpTo(max: number): z.ZodString {
  return z
    .string()
    .max(max)
    .regex(/^[^\0]*$/, 'holds a NUL character')
}

/** Names and groups: Quartz's columns hold 200 characters, a store may hold more. */
export const nameText: z.ZodString = textUpTo(500).min(1)

/** The farthest instants that a Date can hold. */
const instantMax = 8_640_000_000_000_000
/** Epoch milliseconds. */
export const instantMs: z.ZodNumber = z.int().min(-instantMax).max(instantMax)
export const instantOrNull: z.ZodType<number | null> = instantMs.nullable()

/** A whole number in a query. An empty field of a form is none: as 0 it would be an instant of 1970. */
export function wholeQuery(min: number, max: number): z.ZodType<number> {
  return wholeText(min, max, ', or be left out')
}

/** The same as a part of a path, which cannot be left out. */
export function wholePath(min: number, max: number): z.ZodType<number> {
  return wholeText(min, max, '')
}

function wholeText(min: number, max: number, otherwise: string): z.ZodType<number> {
  const bounds = max === instantMax ? '' : ` from ${min} to ${max}`
  const wrong = `must be a whole number in digits${bounds}${otherwise}`
  const digits = z.int(wrong).min(min, wrong).max(max, wrong)
  return z.preprocess((text) => (/^-?\d{1,16}$/.test(String(text)) ? Number(text) : text), digits)
}

export const instantQuery: z.ZodType<number> = wholeQuery(-instantMax, instantMax)

/** `true` or `false` in a query. */
export const flagQuery: z.ZodType<boolean> = z.enum(['true', 'false']).transform((text) => text === 'true')

/**
 * A part of a path. URLs take `.` and `..` away and cannot have empty parts, so a leading `~` is taken off: `~..`
 * is the name `..`, `~` is the empty one, and `~~a` is `~a`.
 */
const pathText: z.ZodType<string> = textUpTo(1000).transform((text) =>
  text.startsWith('~') ? text.slice(1) : text,
)

export interface KeyJson {
  readonly group: string
  readonly name: string
}

export const keyJson: z.ZodType<KeyJson> = z.strictObject({ group: nameText, name: nameText })

/** `/{group}/{name}` */
export const keyPathFields: { readonly group: z.ZodType<string>; readonly name: z.ZodType<string> } = {
  group: pathText,
  name: pathText,
}
export const keyPath: z.ZodType<KeyJson> = z.strictObject(keyPathFields)
export const groupPath: z.ZodType<{ readonly group: string }> = z.strictObject({ group: pathText })
export const namePath: z.ZodType<{ readonly name: string }> = z.strictObject({ name: pathText })

export const nothing: z.ZodType<Readonly<Record<string, never>>> = z.strictObject({})

/** Data of a job or a trigger; the scheduler checks it further. */
export const dataJson: z.ZodType<Readonly<Record<string, unknown>>> = z.record(z.string(), z.unknown())

export function keyToJson({ group, name }: KeyJson): KeyJson {
  return { group, name }
}
