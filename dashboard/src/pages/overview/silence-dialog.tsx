import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { visibleName } from '../../../../src/core/visible-text.ts'
import type { AlertJson } from '../../../../src/server/operations/alerts.ts'
import { call } from '../../api/client.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, useClose } from '../../parts/dialog.tsx'
import { ChoiceField, TextField } from '../../parts/fields.tsx'
import { nowMs } from '../../time/clock.ts'
import { common } from '../../words/common.ts'
import { words } from './alert-words.ts'

const hourMs = 3_600_000
const spansMs = { hour: hourMs, fourHours: 4 * hourMs, day: 24 * hourMs, week: 168 * hourMs } as const
type Span = keyof typeof spansMs
type Scope = 'subject' | 'rule'

interface SilenceDialogProps {
  readonly alert: AlertJson
  readonly onClose: () => void
}

/** Asks for how long nothing is sent of an alert, and why. */
export function SilenceDialog({ alert: { rule, subject }, onClose }: SilenceDialogProps): JSX.Element {
  const text = words()
  const span = useSignal<Span>('hour')
  const scope = useSignal<Scope>(subject === '' ? 'rule' : 'subject')
  const typed = useSignal('')
  const reason = typed.value.trim()
  const close = useClose(onClose)
  const start = async (): Promise<void> => {
    const body = {
      rule,
      ...(scope.value === 'subject' && { subject }),
      untilMs: Math.floor(nowMs()) + spansMs[span.value],
      reason,
    }
    await act(call('alerts.silence', { body }), text.isSilenced)
    close()
  }
  return (
    <Dialog title={`${text.silence}: ${text.rule(rule, visibleName(subject))}`} onClose={onClose}>
      <div class="form">
        <p>{text.silenceAsk}</p>
        {subject !== '' && (
          <ChoiceField
            label={text.scope}
            value={scope.value}
            choices={choices(text.scopes)}
            onChange={(value) => {
              scope.value = value
            }}
          />
        )}
        <ChoiceField
          label={text.how}
          value={span.value}
          choices={choices(text.spans)}
          onChange={(value) => {
            span.value = value
          }}
        />
        <TextField
          label={text.reason}
          hint={text.reasonHint}
          value={typed.value}
          onChange={(value) => {
            typed.value = value
          }}
        />
        <div class="dialog-actions">
          <Button text={common().cancel} onPress={onClose} />
          <Button text={text.silence} kind="primary" isDisabled={reason === ''} onPress={start} />
        </div>
      </div>
    </Dialog>
  )
}

function choices<Value extends string>(
  texts: Readonly<Record<Value, string>>,
): readonly { readonly value: Value; readonly text: string }[] {
  return (Object.keys(texts) as Value[]).map((value) => ({ value, text: texts[value] }))
}
