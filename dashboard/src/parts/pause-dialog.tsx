import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { Pause } from '../../../src/jobstore/pauses.ts'
import type { ActionJson } from '../../../src/server/wire/action.ts'
import { viewerZone } from '../state/preferences.ts'
import { nowMs } from '../time/clock.ts'
import { msOfLocal } from '../time/local-input.ts'
import { common } from '../words/common.ts'
import { dictionary } from '../words/dictionary.ts'
import { act } from './action.ts'
import { Button } from './button.tsx'
import { Dialog, useClose } from './dialog.tsx'
import { CheckField, TextField } from './fields.tsx'
import { When } from './time.tsx'

const words = dictionary({
  en: {
    pause: (what: string) => `Pause ${what}`,
    resume: (what: string) => `Resume ${what}`,
    reason: 'Reason',
    reasonHint: 'Shown to all who look, with your name.',
    until: 'Until',
    isPast: 'This time has passed.',
    untilHint: (zone: string) => `It resumes by itself then. Empty: until it is resumed. In ${zone}.`,
    withoutMissed: 'Without what was missed',
    withoutMissedHint:
      'It goes on at its next fire time after now. Otherwise its misfire instruction decides.',
    scopes: {
      trigger: 'The trigger is paused',
      job: 'The job is paused',
      triggerGroup: 'The group of triggers is paused',
      jobGroup: 'The group of jobs is paused',
      all: 'Everything is paused',
    },
    by: (name: string) => `by ${name}`,
    since: 'since',
    untilWord: 'until',
  },
  zh: {
    pause: (what) => `暂停 ${what}`,
    resume: (what) => `恢复 ${what}`,
    reason: '原因',
    reasonHint: '与您的名字一起显示给所有查看者。',
    until: '直到',
    isPast: '该时间已过。',
    untilHint: (zone) => `届时自动恢复。留空表示直到手动恢复。按 ${zone} 时区。`,
    withoutMissed: '不补错过的触发',
    withoutMissedHint: '从现在之后的下一次触发继续。否则由其错过触发策略决定。',
    scopes: {
      trigger: '触发器已暂停',
      job: '作业已暂停',
      triggerGroup: '触发器分组已暂停',
      jobGroup: '作业分组已暂停',
      all: '全部已暂停',
    },
    by: (name) => `由 ${name}`,
    since: '自',
    untilWord: '直到',
  },
})

export interface PauseChoice {
  readonly reason: string | null
  readonly untilMs: number | null
}

interface PauseDialogProps {
  readonly what: string
  readonly done: string
  readonly pause: (choice: PauseChoice) => Promise<ActionJson>
  readonly onClose: () => void
}

/** Pauses something, and asks why and until when. */
export function PauseDialog({ what, done, pause, onClose }: PauseDialogProps): JSX.Element {
  const text = words()
  const { cancel, pause: verb } = common()
  const reason = useSignal('')
  const until = useSignal('')
  const untilMs = until.value === '' ? null : msOfLocal(until.value)
  const isPast = untilMs !== null && untilMs <= nowMs()
  const isReady = until.value === '' || (untilMs !== null && !isPast)
  const close = useClose(onClose)
  const start = async (): Promise<void> => {
    await act(pause({ reason: reason.value.trim() === '' ? null : reason.value.trim(), untilMs }), done)
    close()
  }
  return (
    <Dialog title={text.pause(what)} onClose={onClose}>
      <div class="form">
        <TextField
          label={text.reason}
          hint={text.reasonHint}
          value={reason.value}
          onChange={(value) => {
            reason.value = value
          }}
        />
        <TextField
          label={text.until}
          hint={text.untilHint(viewerZone())}
          type="datetime-local"
          value={until.value}
          problem={isPast ? text.isPast : null}
          onChange={(value) => {
            until.value = value
          }}
        />
        <div class="dialog-actions">
          <Button text={cancel} onPress={onClose} />
          <Button text={verb} icon="pause" kind="primary" isDisabled={!isReady} onPress={start} />
        </div>
      </div>
    </Dialog>
  )
}

interface ResumeDialogProps {
  readonly what: string
  readonly done: string
  readonly resume: (choice: { readonly withoutMissed: boolean }) => Promise<ActionJson>
  readonly onClose: () => void
}

/** Resumes something, with or without a storm of what it missed. */
export function ResumeDialog({ what, done, resume, onClose }: ResumeDialogProps): JSX.Element {
  const text = words()
  const { cancel, resume: verb } = common()
  const withoutMissed = useSignal(false)
  const close = useClose(onClose)
  const start = async (): Promise<void> => {
    await act(resume({ withoutMissed: withoutMissed.value }), done)
    close()
  }
  return (
    <Dialog title={text.resume(what)} onClose={onClose}>
      <div class="form">
        <CheckField
          label={text.withoutMissed}
          hint={text.withoutMissedHint}
          isChecked={withoutMissed.value}
          onChange={(isOn) => {
            withoutMissed.value = isOn
          }}
        />
        <div class="dialog-actions">
          <Button text={cancel} onPress={onClose} />
          <Button text={verb} icon="arrow" kind="primary" onPress={start} />
        </div>
      </div>
    </Dialog>
  )
}

/** Who has paused something, when, why and until when. */
export function PauseNote({ pause }: { readonly pause: Pause }): JSX.Element {
  const text = words()
  const { scope, reason, by, sinceMs, untilMs } = pause
  return (
    <p class="note warn">
      <strong>
        {text.scopes[scope]}
        {by !== null && ` ${text.by(by)}`}
      </strong>
      {reason !== null && <span>{reason}</span>}
      <span>
        {text.since} <When ms={sinceMs} />
      </span>
      {untilMs !== null && (
        <span>
          {text.untilWord} <When ms={untilMs} />
        </span>
      )}
    </p>
  )
}
