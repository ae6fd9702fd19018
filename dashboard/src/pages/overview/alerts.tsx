import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { visibleName } from '../../../../src/core/visible-text.ts'
import type { AlertJson, AlertsJson, SilenceJson } from '../../../../src/server/operations/alerts.ts'
import { call } from '../../api/client.ts'
import { isGone } from '../../api/problem.ts'
import { type Resource, useResource } from '../../api/resource.ts'
import { act } from '../../parts/action.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { When } from '../../parts/time.tsx'
import { may } from '../../state/session.ts'
import { say } from '../../state/toasts.ts'
import { words } from './alert-words.ts'
import { SilenceDialog } from './silence-dialog.tsx'

/** Null for a server that was given no alerts, which is asked once. */
export function useAlerts(): Resource<AlertsJson | null> {
  const hasNone = useRef(false)
  return useResource<AlertsJson | null>(
    async (signal) => {
      if (hasNone.current || !may('alerts.list')) return null
      try {
        return await call('alerts.list', { signal })
      } catch (error) {
        if (!isGone(error)) throw error
        hasNone.current = true
        return null
      }
    },
    [],
    { everyMs: 5000 },
  )
}

export interface AlertCounts {
  readonly active: number
  /** Those that are not silenced. */
  readonly loud: number
}

export function alertCounts(alerts: AlertsJson | null): AlertCounts {
  if (alerts === null) return { active: 0, loud: 0 }
  const { active, silences } = alerts
  return { active: active.length, loud: active.filter((alert) => !isSilenced(alert, silences)).length }
}

interface AlertsProps {
  readonly alerts: Resource<AlertsJson | null>
  /** Whether the page says already that it could not be loaded. */
  readonly isProblemSaid: boolean
}

/** What people were told of, or will be, and what they are not told of for a while. */
export function Alerts({ alerts, isProblemSaid }: AlertsProps): JSX.Element {
  // What is typed into the dialog outlives a look that failed, and the alert.
  const asked = useSignal<AlertJson | null>(null)
  const shown = alerts.value.value
  const error = alerts.error.value
  return (
    <>
      {error !== null && !isProblemSaid && <ProblemNote error={error} retry={alerts.reload} />}
      {shown !== null && <AlertPanel alerts={shown} asked={asked} />}
      {asked.value !== null && (
        <SilenceDialog
          alert={asked.value}
          onClose={() => {
            asked.value = null
          }}
        />
      )}
    </>
  )
}

interface AlertPanelProps {
  readonly alerts: AlertsJson
  readonly asked: Signal<AlertJson | null>
}

function AlertPanel({ alerts, asked }: AlertPanelProps): JSX.Element {
  const text = words()
  const { active, silences, rules, channels } = alerts
  return (
    <Panel title={text.title} isFlush actions={may('alerts.test') && channels.length > 0 && <TestButton />}>
      {active.length === 0 && <p class="panel-body muted">{text.none(rules.length)}</p>}
      <ul class="problems">
        {active.map((alert) => (
          <ActiveAlert key={alert.id} alert={alert} silences={silences} asked={asked} />
        ))}
        {silences.map((silence) => (
          <Silence key={silence.id} silence={silence} />
        ))}
      </ul>
    </Panel>
  )
}

function TestButton(): JSX.Element {
  const text = words()
  const press = async (): Promise<void> => {
    const { result } = await call('alerts.test', { body: {} })
    const failures = result.flatMap(({ channel, error }) =>
      error === null ? [] : [text.failed(channel, error)],
    )
    for (const failure of failures) say.problem(failure)
    if (failures.length < result.length) say.done(text.tested(result.length - failures.length))
  }
  return <Button text={text.test} onPress={press} />
}

function isSilenced({ rule, subject }: AlertJson, silences: readonly SilenceJson[]): boolean {
  return silences.some(
    (silence) =>
      (silence.rule === null || silence.rule === rule) &&
      (silence.subject === null || silence.subject === subject),
  )
}

interface ActiveAlertProps {
  readonly alert: AlertJson
  readonly silences: readonly SilenceJson[]
  readonly asked: Signal<AlertJson | null>
}

function ActiveAlert({ alert, silences, asked }: ActiveAlertProps): JSX.Element {
  const text = words()
  const { rule, subject, message, sinceMs } = alert
  const isQuiet = isSilenced(alert, silences)
  return (
    <li class={isQuiet ? 'is-quiet' : 'is-bad'}>
      <div>
        <strong>{visibleName(message)}</strong>
        <p class="muted">
          {text.rule(rule, visibleName(subject))} · {text.since} <When ms={sinceMs} />
        </p>
      </div>
      <div class="actions">
        {isQuiet ? <Badge tone="quiet" text={text.silenced} /> : <SentBadge alert={alert} />}
        {!isQuiet && may('alerts.silence') && (
          <Button
            text={text.silence}
            onPress={() => {
              asked.value = alert
            }}
          />
        )}
      </div>
    </li>
  )
}

function SentBadge({ alert: { isSent, isGivenUp } }: { readonly alert: AlertJson }): JSX.Element {
  const text = words()
  if (isGivenUp) return <Badge tone="bad" text={text.givenUp} />
  return <Badge tone={isSent ? 'info' : 'warn'} text={isSent ? text.sent : text.notSent} />
}

function Silence({
  silence: { id, rule, subject, untilMs, by, reason },
}: {
  readonly silence: SilenceJson
}): JSX.Element {
  const text = words()
  return (
    <li class="is-quiet">
      <div>
        <strong>
          {text.silenced}: {rule === null ? (subject ?? text.all) : text.rule(rule, subject ?? '')}
        </strong>
        <p class="muted">
          {reason} · {text.by(by)} · {text.until} <When ms={untilMs} />
        </p>
      </div>
      {may('alerts.endSilence') && (
        <Button
          text={text.end}
          onPress={() => act(call('alerts.endSilence', { params: { id } }), text.ended)}
        />
      )}
    </li>
  )
}
