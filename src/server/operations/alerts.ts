import { z } from 'zod'
import type { ActiveAlert, AlertSilence } from '../../alerts/alert-types.ts'
import type { AlertsPlugin, ChannelTest } from '../../alerts/alerts-plugin.ts'
import { InvalidArgumentError, SchedulerError } from '../../core/errors.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import { actionJson } from '../wire/action.ts'
import { instantMs, nothing, textUpTo } from '../wire/fields.ts'
import { change } from './changes.ts'

export type SilenceJson = AlertSilence
export type AlertJson = ActiveAlert
export type AlertTestJson = ChannelTest

export interface AlertsJson {
  readonly active: readonly AlertJson[]
  readonly silences: readonly SilenceJson[]
  readonly rules: readonly { readonly name: string; readonly description: string }[]
  readonly channels: readonly string[]
}

const silenceJson: z.ZodType<SilenceJson> = z.strictObject({
  id: z.string(),
  rule: z.string().nullable().describe('Null for every rule.'),
  subject: z.string().nullable().describe('Null for every subject.'),
  untilMs: z.number(),
  by: z.string(),
  reason: z.string(),
})

const alertJson: z.ZodType<AlertJson> = z.strictObject({
  id: z.string(),
  rule: z.string(),
  subject: z.string(),
  message: z.string(),
  sinceMs: z.number(),
  lastTimeMs: z.number(),
  node: z.string(),
  isSent: z.boolean().describe('False while its notice waits to be sent, is silenced, or is given up.'),
  isGivenUp: z.boolean().describe('Whether no channel could send its notice, which is not tried again.'),
})

const alertsJson: z.ZodType<AlertsJson> = z.strictObject({
  active: z.array(alertJson),
  silences: z.array(silenceJson),
  rules: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  channels: z.array(z.string()),
})

const testedJson: z.ZodType<readonly AlertTestJson[]> = z.array(
  z.strictObject({ channel: z.string(), error: z.string().nullable().describe('Null when it worked.') }),
)

const yearMs = 31_536_000_000

function alertsOf({
  scheduler,
  parts,
}: Pick<OperationCall<unknown, unknown, unknown>, 'scheduler' | 'parts'>): AlertsPlugin {
  const alerts = parts.alerts.get(scheduler.schedulerName)
  if (alerts !== undefined) return alerts
  throw new SchedulerError('ERR_NOT_FOUND', "This scheduler has no alerts: give the server 'alerts'.")
}

/** A silence of a rule that was misspelt would be found when its alerts come. @throws InvalidArgumentError */
async function requireRule(alerts: AlertsPlugin, rule: string): Promise<void> {
  if (alerts.rules.some(({ name }) => name === rule)) return
  // Another node may have rules of its own.
  if ((await alerts.active()).some((alert) => alert.rule === rule)) return
  const known = alerts.rules.map(({ name }) => name).join(', ')
  throw new InvalidArgumentError('body.rule', `There is no rule of that name; there are: ${known}.`)
}

const listAlerts: Operation = operation({
  id: 'alerts.list',
  method: 'GET',
  path: '/alerts',
  summary: 'The alerts that are not over, the silences, the rules and the channels.',
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: alertsJson,
  async handle(call) {
    const alerts = alertsOf(call)
    return {
      active: [...(await alerts.active())],
      silences: [...(await alerts.silences())],
      rules: alerts.rules.map(({ name, description }) => ({ name, description })),
      channels: [...alerts.channels],
    }
  },
})

const silenceAlerts: Operation = operation({
  id: 'alerts.silence',
  method: 'POST',
  path: '/alerts/silences',
  summary: 'Sends no alerts for a while: of one rule, about one subject, or all.',
  role: 'operator',
  reach: 'data',
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: z.strictObject({
    rule: textUpTo(500).min(1).optional(),
    subject: textUpTo(500).min(1).optional(),
    untilMs: instantMs.describe('When it ends by itself, within a year.'),
    reason: textUpTo(1000).min(1),
  }),
  answer: actionJson<SilenceJson | null>(silenceJson.nullable()),
  async handle(call) {
    const { body, access, parts, isDryRun } = call
    const alerts = alertsOf(call)
    const { rule, subject, untilMs, reason } = body
    const nowMs = parts.clock.now()
    if (untilMs <= nowMs || untilMs > nowMs + yearMs) {
      throw new SchedulerError('ERR_INVALID_ARGUMENT', "'untilMs' must be in the future, within a year.")
    }
    if (rule !== undefined) await requireRule(alerts, rule)
    let result: SilenceJson | null = null
    if (!isDryRun) {
      const { name: by } = access.principal
      result = await alerts.silence({
        ...(rule !== undefined && { rule }),
        ...(subject !== undefined && { subject }),
        until: new Date(untilMs),
        by,
        reason,
      })
    }
    return change(call, 'data', { wouldChange: () => true, carryOut: async () => true, result })
  },
})

const endSilence: Operation = operation({
  id: 'alerts.endSilence',
  method: 'DELETE',
  path: '/alerts/silences/{id}',
  summary: 'Ends a silence: what it held back and is not over is sent.',
  role: 'operator',
  reach: 'data',
  jobGroups: null,
  params: z.strictObject({ id: textUpTo(100) }),
  query: nothing,
  body: null,
  answer: actionJson(z.null()),
  async handle(call) {
    const alerts = alertsOf(call)
    const { id } = call.params
    return change(call, 'data', {
      wouldChange: async () => (await alerts.silences()).some((silence) => silence.id === id),
      carryOut: () => alerts.endSilence(id),
      result: null,
    })
  },
})

const testAlerts: Operation = operation({
  id: 'alerts.test',
  method: 'POST',
  path: '/alerts/test',
  summary:
    'Sends a test over every channel, or one, from the node that was asked, and says what became of it.',
  role: 'operator',
  reach: 'node',
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: z.strictObject({ channel: textUpTo(200).min(1).optional() }),
  answer: actionJson(testedJson),
  async handle(call) {
    const alerts = alertsOf(call)
    const { channel } = call.body
    if (channel !== undefined && !alerts.channels.includes(channel)) {
      throw new SchedulerError('ERR_NOT_FOUND', 'There is no channel of that name.')
    }
    const result = call.isDryRun ? [] : [...(await alerts.test(channel))]
    return change(call, 'node', { wouldChange: () => false, carryOut: async () => false, result })
  },
})

export const alertOperations: readonly Operation[] = [listAlerts, silenceAlerts, endSilence, testAlerts]
