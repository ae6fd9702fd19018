import { CronExpressionError } from '../core/errors.ts'
import { visible } from '../core/visible-text.ts'
import type { EpochMs } from '../time/clock.ts'
import { TimeZone } from '../time/zone.ts'
import { type CronDialect, dialectOf } from '../triggers/cron/cron-dialect.ts'
import { CronExpression } from '../triggers/cron/cron-expression.ts'
import { type Command, parseCommandLine } from './command.ts'
import { formatDuration } from './duration.ts'
import { formatLocal } from './local-time.ts'
import {
  dialectOption,
  dstOption,
  requireDialect,
  requireDst,
  requireInstant,
  requireWhole,
  requireZone,
  zoneOption,
} from './shared-options.ts'
import type { Output } from './terminal/output.ts'
import { count, pointAt } from './terminal/text.ts'

/** Most fire times of one call. */
const countMax = 10_000

const spec = {
  name: 'next',
  argument: "'CRON'",
  summary: 'Explains a cron expression and prints its next fire times',
  options: {
    zone: zoneOption,
    count: { type: 'string', value: 'N', help: `How many fire times, 1 to ${countMax} (default 5)` },
    dialect: dialectOption,
    dst: dstOption,
    from: {
      type: 'string',
      value: 'TIME',
      help: 'Start after this instant, as in 2026-03-29T00:00:00Z (default now)',
    },
    json: { type: 'boolean', help: 'Print it as JSON' },
  },
  notes: [
    'The number of fields tells the dialect: five fields or a macro such as @daily are Unix (0 and 7 are Sunday), ' +
      "six or seven are Quartz (seconds first, 1 is Sunday, '?' in one of the day fields). With --dialect unix there " +
      "may be a sixth field, for seconds, in front; with --dialect spring it is read as Spring's @Scheduled does.",
  ],
} as const

/** `quartz-ts next`: explains one expression. */
export const nextCommand: Command = {
  spec,
  async run(args, host) {
    const { argument, values } = parseCommandLine(spec, args)
    const zone = requireZone(values.zone)
    const dst = requireDst(values.dst)
    const fireCount = requireWhole('--count', values.count ?? '5', { min: 1, max: countMax })
    const fromMs = values.from === undefined ? host.clock.now() : requireInstant('--from', values.from)
    const dialect = requireDialect(values.dialect) ?? dialectOf(argument)
    try {
      const options = { timeZone: zone.name, dst, dialect, seconds: 'optional' } as const
      const cron = CronExpression.parse(argument, options)
      const fires = nextFires(cron, fromMs, fireCount)
      if (values.json === true) {
        host.stdout.write(`${JSON.stringify(jsonOf(argument, cron, fires), null, 2)}\n`)
        return 0
      }
      printHeading(argument, cron, host.stdout)
      printFires(cron.timeZone, fires, fromMs, host.stdout)
      if (fires.length < fireCount) host.stdout.write('After that it does not fire any more.\n')
      return 0
    } catch (error) {
      if (!(error instanceof CronExpressionError)) throw error
      host.stderr.write(`${describeCronError(error)}It was read as ${nameOf(dialect, argument)}.\n`)
      return 1
    }
  },
}

function fieldsOf(expression: string): readonly string[] {
  return expression.trim().split(/\s+/)
}

/** An error with the place in the expression, and the remedy on a line of its own. */
function describeCronError(error: CronExpressionError): string {
  const { expression, message, position, suggestion } = error
  const cut = suggestion !== null && message.endsWith(suggestion)
  const found = cut ? message.slice(0, -suggestion.length).trimEnd() : message
  const shown = expression.length > 200 ? '' : `\n${pointAt(expression, position)}`
  return visible(`quartz-ts: ${found}${shown}\n${cut ? `${suggestion}\n` : ''}`)
}

function printHeading(expression: string, cron: CronExpression, output: Output): void {
  const lines: readonly (readonly [string, string])[] = [
    ['expression', expression.trim()],
    ['dialect', nameOf(cron.dialect, expression)],
    ['in words', cron.describe()],
    [
      'time zone',
      `${cron.timeZone}, daylight saving as in ${cron.dst === 'vixie' ? 'Vixie cron' : 'Java Quartz'}`,
    ],
  ]
  for (const [name, value] of lines) output.write(`${name.padEnd(11)} ${value}\n`)
  output.write('\n')
}

const dialectNames: Readonly<Record<CronDialect, string>> = {
  quartz: 'Quartz',
  unix: 'Unix',
  spring: 'Spring',
}

/** `Quartz (6 fields)` */
function nameOf(dialect: CronDialect, expression: string): string {
  const fields = fieldsOf(expression)
  const kind = fields[0]?.startsWith('@') === true ? 'a macro' : count(fields.length, 'field')
  return `${dialectNames[dialect]} (${kind})`
}

/** Fewer fires than were asked for are all that there are. */
function jsonOf(expression: string, cron: CronExpression, fires: readonly EpochMs[]): object {
  const zone = TimeZone.of(cron.timeZone)
  return {
    expression: expression.trim(),
    dialect: cron.dialect,
    words: cron.describe(),
    timeZone: cron.timeZone,
    dst: cron.dst,
    fires: fires.map((atMs) => ({ atMs, utc: utcText(atMs), local: formatLocal(zone, atMs) })),
  }
}

function utcText(instantMs: EpochMs): string {
  return new Date(instantMs).toISOString().replace('.000Z', 'Z')
}

function printFires(zoneName: string, fires: readonly EpochMs[], fromMs: EpochMs, output: Output): void {
  const zone = TimeZone.of(zoneName)
  const numberWidth = String(fires.length).length
  fires.forEach((fireMs, index) => {
    const number = String(index + 1).padStart(numberWidth)
    const utc = utcText(fireMs)
    const away = formatDuration(fireMs - fromMs)
    output.write(`${number}  ${formatLocal(zone, fireMs)}   ${utc}   in ${away}\n`)
  })
}

function nextFires(cron: CronExpression, fromMs: EpochMs, fireCount: number): readonly EpochMs[] {
  const fires: EpochMs[] = []
  let nextMs = cron.nextTimeMs(fromMs)
  while (nextMs !== null && fires.length < fireCount) {
    fires.push(nextMs)
    nextMs = cron.nextTimeMs(nextMs)
  }
  return fires
}
