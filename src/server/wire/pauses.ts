import { z } from 'zod'
import { InvalidArgumentError } from '../../core/errors.ts'
import { isObject } from '../../core/options.ts'
import type { Pause } from '../../jobstore/pauses.ts'
import type { PauseOptions } from '../../scheduler/scheduler.ts'
import { instantMs, instantOrNull, textUpTo } from './fields.ts'

/** Why something is paused. */
export const pauseJson: z.ZodType<Pause> = z.strictObject({
  scope: z
    .enum(['trigger', 'job', 'triggerGroup', 'jobGroup', 'all'])
    .describe('What was paused: a trigger is also paused by the pause of its job or of a group.'),
  reason: z.string().nullable(),
  by: z.string().nullable(),
  sinceMs: instantMs,
  untilMs: instantOrNull.describe('When it resumes by itself.'),
})

/** What a request says of a pause. */
export interface PauseBody {
  readonly reason: string | null
  readonly untilMs: number | null
}

const pauseFields = {
  reason: textUpTo(1000)
    .nullable()
    .default(null)
    .describe('Why. With neither a reason nor an end, what is paused keeps what was said of it.'),
  untilMs: instantOrNull.default(null).describe('When it is to resume by itself.'),
}

/** The body of a pause, which may be left out. */
export const pauseBody: z.ZodType<PauseBody> = z.strictObject(pauseFields)

/** Whether a pause says why, or until when: that replaces what was said before. */
export function isReplacingPause(body: unknown): boolean {
  if (!isObject(body)) return false
  return Reflect.get(body, 'reason') !== null || Reflect.get(body, 'untilMs') !== null
}

/** Refuses a pause until a time that has passed, also in a dry run. @throws InvalidArgumentError */
export function requireLater(body: unknown, nowMs: number, field: string = 'untilMs'): void {
  const untilMs: unknown = isObject(body) ? Reflect.get(body, 'untilMs') : null
  if (typeof untilMs !== 'number' || untilMs > nowMs) return
  const message = `'${field}' must be later than now, got ${new Date(untilMs).toISOString()}.`
  throw new InvalidArgumentError(field, message, 'ERR_INVALID_OPTION')
}

/** Who pauses is who asks for it: the name of a host's own users may be anything. */
export function pauseOptionsOf({ reason, untilMs }: PauseBody, principal: string): PauseOptions {
  const by = Array.from(principal.replaceAll(/[\0\p{Surrogate}]/gu, ''))
    .slice(0, 100)
    .join('')
  return {
    ...(by.trim() !== '' && { by }),
    ...(reason !== null && { reason }),
    ...(untilMs !== null && { until: new Date(untilMs) }),
  }
}

/** The body of a resume, which may be left out. */
export const resumeBody: z.ZodType<{ readonly withoutMissed: boolean }> = z.strictObject({
  withoutMissed: z
    .boolean()
    .default(false)
    .describe('Go on with the first fire time after now, whatever the misfire instruction says.'),
})
