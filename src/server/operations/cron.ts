import { z } from 'zod'
import { TimeZone } from '../../time/zone.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import { cronDialects, dialectOf } from '../../triggers/cron/cron-dialect.ts'
import { CronExpression } from '../../triggers/cron/cron-expression.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { RequestWork } from '../request-work.ts'
import { instantMs, instantQuery, nothing, textUpTo, wholeQuery } from '../wire/fields.ts'
import { requireCalendar } from './calendars.ts'

/** How many times that a calendar excludes one preview shows. */
const excludedMax = 400

export interface PreviewedFire {
  readonly atMs: number
  readonly offsetMs: number
  readonly dst: 'afterGap' | 'firstPass' | 'secondPass' | null
  readonly isExcluded: boolean
}

export interface CronPreviewJson {
  readonly expression: string
  readonly words: string
  readonly fires: readonly PreviewedFire[]
  readonly isComplete: boolean
}

const cronPreviewJson: z.ZodType<CronPreviewJson> = z.strictObject({
  expression: z.string().describe('As it is kept.'),
  words: z.string(),
  fires: z.array(
    z.strictObject({
      atMs: instantMs,
      offsetMs: z.number().describe('Local time minus UTC at that instant.'),
      dst: z
        .enum(['afterGap', 'firstPass', 'secondPass'])
        .nullable()
        .describe('`afterGap`: its local time does not exist; passes: its local time exists twice.'),
      isExcluded: z.boolean().describe('By the calendar.'),
    }),
  ),
  isComplete: z
    .boolean()
    .describe('It never fires after these. False also where there was no time to look for more of them.'),
})

const preview: Operation = operation({
  id: 'cron.preview',
  method: 'GET',
  path: '/cron/preview',
  summary: 'What a cron expression means: in words, and when it fires in its zone.',
  role: 'viewer',
  reach: null,
  jobGroups: 'visible',
  params: nothing,
  query: z.strictObject({
    expression: textUpTo(500).min(1),
    timeZone: textUpTo(100).min(1).default('UTC').describe('IANA name.'),
    dialect: z
      .enum(cronDialects)
      .optional()
      .describe('Default: five fields or a macro are `unix`, more fields are `quartz`.'),
    dst: z.enum(['vixie', 'quartz']).default('vixie'),
    seconds: z.enum(['never', 'optional']).default('never'),
    calendarName: textUpTo(500).min(1).optional(),
    count: wholeQuery(1, 100).default(20),
    fromMs: instantQuery.optional().describe('Only fires after this instant. Default: now.'),
  }),
  body: null,
  answer: cronPreviewJson,
  async handle({ scheduler, query, parts }) {
    const { expression: text, timeZone, dst, seconds, calendarName } = query
    const dialect = query.dialect ?? dialectOf(text)
    const expression = CronExpression.parse(text, { timeZone, dialect, dst, seconds })
    const calendar = calendarName === undefined ? null : await requireCalendar(scheduler, calendarName)
    const { fires, isComplete } = await firesOf(
      { expression, calendar, fromMs: query.fromMs ?? parts.clock.now(), count: query.count },
      new RequestWork(parts.clock),
    )
    return { expression: expression.expression, words: expression.describe(), fires, isComplete }
  },
})

interface Preview {
  readonly expression: CronExpression
  readonly calendar: Calendar | null
  readonly fromMs: number
  readonly count: number
}

/** A calendar may take its time for each answer: what is found by the end of the work is what is shown. */
async function firesOf(
  { expression, calendar, fromMs, count }: Preview,
  work: RequestWork,
): Promise<Pick<CronPreviewJson, 'fires' | 'isComplete'>> {
  const fires: PreviewedFire[] = []
  let included = 0
  let lastMs = fromMs
  while (included < count && fires.length < count + excludedMax && work.take()) {
    const atMs = expression.nextTimeMs(lastMs)
    if (atMs === null) return { fires, isComplete: true }
    const isExcluded = calendar?.isTimeIncluded(atMs) === false
    if (!isExcluded) included++
    const zone = TimeZone.of(expression.timeZone)
    fires.push({ atMs, offsetMs: zone.offsetMsAt(atMs), dst: dstMark(expression, zone, atMs), isExcluded })
    lastMs = atMs
    await work.breathe()
  }
  return { fires, isComplete: false }
}

function dstMark(expression: CronExpression, zone: TimeZone, atMs: number): PreviewedFire['dst'] {
  const localMs = zone.toLocalMs(atMs)
  const passes = zone.instantsOf(localMs)
  if (passes.length > 1) return passes[0] === atMs ? 'firstPass' : 'secondPass'
  const saysSo = expression.withTimeZone('UTC').isSatisfiedBy(new Date(localMs))
  return saysSo ? null : 'afterGap'
}

export const cronOperations: readonly Operation[] = [preview]
