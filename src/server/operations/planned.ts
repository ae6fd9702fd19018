import { z } from 'zod'
import { dayMs } from '../../time/civil.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { planFirings } from '../planned-firings.ts'
import {
  instantMs,
  instantQuery,
  type KeyJson,
  keyJson,
  keyToJson,
  nothing,
  textUpTo,
  wholeQuery,
} from '../wire/fields.ts'
import { conditionsOf, namesWholeJob, triggerConditionQuery } from './trigger-lists.ts'

/** The longest time that one request may ask about. */
const windowMaxMs = 400 * dayMs

export interface PlannedTriggerJson {
  readonly key: KeyJson
  readonly jobKey: KeyJson
  readonly calendarName: string | null
  readonly timesMs: readonly number[]
  readonly isComplete: boolean
}

export interface PlannedJson {
  readonly items: readonly PlannedTriggerJson[]
  readonly completeUntilMs: number
}

const plannedJson: z.ZodType<PlannedJson> = z.strictObject({
  items: z
    .array(
      z.strictObject({
        key: keyJson,
        jobKey: keyJson,
        calendarName: z.string().nullable(),
        timesMs: z.array(instantMs),
        isComplete: z.boolean().describe('False when it fires more often than is shown.'),
      }),
    )
    .describe('The triggers that fire in that time, those first that fire first.'),
  completeUntilMs: instantMs.describe('Up to this instant nothing is missing.'),
})

const listPlanned: Operation = operation({
  id: 'planned.list',
  method: 'GET',
  path: '/planned',
  summary: 'When triggers will fire between two instants, as they and their calendars are now.',
  role: 'viewer',
  reach: null,
  jobGroups: 'visible',
  params: nothing,
  query: z
    .strictObject({
      ...triggerConditionQuery,
      fromMs: instantQuery.optional().describe('Default: now.'),
      toMs: instantQuery.describe('At most 400 days after fromMs.'),
      take: wholeQuery(1, 1000).default(200).describe('Most triggers to look at.'),
      times: wholeQuery(1, 1000).default(100).describe('Most times of one trigger.'),
    })
    .refine(namesWholeJob, { error: 'jobName needs jobGroup' })
    .refine(({ fromMs, toMs }) => fromMs === undefined || (toMs >= fromMs && toMs - fromMs <= windowMaxMs), {
      error: 'toMs is at or after fromMs, by 400 days at most',
    }),
  body: null,
  answer: plannedJson,
  async handle({ scheduler, query, access, parts }) {
    const fromMs = query.fromMs ?? parts.clock.now()
    const [plan] = await planFirings(scheduler, parts.clock, {
      conditions: conditionsOf(query, access),
      windows: [{ fromMs, toMs: Math.min(query.toMs, fromMs + windowMaxMs) }],
      triggersMax: query.take,
      timesMax: query.times,
    })
    const { triggers = [], completeUntilMs = fromMs - 1 } = plan ?? {}
    return {
      items: triggers.map(({ trigger: { key, jobKey, calendarName }, timesMs, isComplete }) => {
        return { key: keyToJson(key), jobKey: keyToJson(jobKey), calendarName, timesMs, isComplete }
      }),
      completeUntilMs,
    }
  },
})

const minuteMs = 60_000
/** How many instants one request may ask about, and how many triggers are looked at for each. */
const instantsMax = 10
const lookedAtMax = 1000

export interface LoadJson {
  readonly minutes: readonly {
    readonly fromMs: number
    readonly triggers: number
    readonly fires: number
    readonly first: readonly KeyJson[]
    readonly isComplete: boolean
  }[]
}

const loadJson: z.ZodType<LoadJson> = z.strictObject({
  minutes: z.array(
    z.strictObject({
      fromMs: instantMs.describe('The beginning of the minute.'),
      triggers: z.number().describe('How many triggers fire in it.'),
      fires: z.number().describe('How often they fire.'),
      first: z.array(keyJson).describe('The first of them, at most 5.'),
      isComplete: z
        .boolean()
        .describe(`False when there may be more: ${lookedAtMax} triggers are looked at.`),
    }),
  ),
})

const load: Operation = operation({
  id: 'planned.load',
  method: 'GET',
  path: '/planned/load',
  summary: 'What else fires in the same minutes: to ask before a time is chosen.',
  role: 'viewer',
  reach: null,
  jobGroups: 'visible',
  params: nothing,
  query: z.strictObject({
    atMs: textUpTo(300)
      .regex(
        new RegExp(`^\\d{1,15}(?:,\\d{1,15}){0,${instantsMax - 1}}$`),
        `must be 1 to ${instantsMax} instants in epoch milliseconds, with commas between them`,
      )
      .transform((text) => text.split(',').map(Number))
      .describe(`Instants with commas between them, at most ${instantsMax}.`),
    exceptGroup: textUpTo(500).min(1).optional().describe('With exceptName: a trigger that does not count.'),
    exceptName: textUpTo(500).min(1).optional(),
  }),
  body: null,
  answer: loadJson,
  async handle({ scheduler, query, access, parts }) {
    const plans = await planFirings(scheduler, parts.clock, {
      conditions: conditionsOf({ groupMatch: 'equals' }, access),
      windows: query.atMs.map((atMs) => {
        const fromMs = Math.floor(atMs / minuteMs) * minuteMs
        return { fromMs, toMs: fromMs + minuteMs - 1 }
      }),
      triggersMax: lookedAtMax,
      timesMax: 60,
    })
    return {
      minutes: plans.map(({ fromMs, toMs, triggers, completeUntilMs }) => {
        const others = triggers.filter(
          ({ trigger: { key } }) => key.group !== query.exceptGroup || key.name !== query.exceptName,
        )
        return {
          fromMs,
          triggers: others.length,
          fires: others.reduce((sum, { timesMs }) => sum + timesMs.length, 0),
          first: others.slice(0, 5).map(({ trigger }) => keyToJson(trigger.key)),
          isComplete: completeUntilMs >= toMs,
        }
      }),
    }
  },
})

export const plannedOperations: readonly Operation[] = [listPlanned, load]
