import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import type { TriggerState } from '../../../../src/jobstore/trigger-state.ts'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import { call } from '../../api/client.ts'
import { ownChange } from '../../api/live.ts'
import { isChanged } from '../../api/problem.ts'
import { act } from '../../parts/action.ts'
import { type Asked, AskedDialog } from '../../parts/asked-dialog.tsx'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import type { IconName } from '../../parts/icon.tsx'
import { keyText } from '../../parts/links.tsx'
import { href, pageOfNow, triggerPath } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { say } from '../../state/toasts.ts'
import { fullInstantText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

/** What was asked of which trigger, and not yet confirmed. */
export type AskedOfTrigger = { readonly key: KeyJson; readonly what: Asked } | null

interface TriggerButtonsProps {
  readonly of: KeyJson
  readonly state: TriggerState
  /** Whoever draws the buttons draws the {@link TriggerDialog}: a row may leave its list while somebody types. */
  readonly asked: Signal<AskedOfTrigger>
  readonly isSmall?: boolean
}

/** What an operator does to a trigger. */
export function TriggerButtons({ of: key, state, asked, isSmall = false }: TriggerButtonsProps): JSX.Element {
  const text = words()
  const { pause, resume, run } = common()
  const name = keyText(key)
  const button = (verb: string, icon: IconName, onPress: () => unknown): JSX.Element => (
    <Button
      text={isSmall ? `${verb}: ${name}` : verb}
      icon={icon}
      {...(isSmall && ({ kind: 'quiet', isSmall } as const))}
      onPress={onPress}
    />
  )
  const ask = (what: Asked) => (): void => {
    asked.value = { key, what }
  }
  const canPause = state === 'NORMAL' || state === 'BLOCKED'
  return (
    <div class="row-actions">
      {may('triggers.run') && button(run, 'play', ask('run'))}
      {state === 'ERROR' &&
        may('triggers.resetError') &&
        button(text.resetVerb, 'check', () =>
          act(call('triggers.resetError', { params: key }), text.reset(name)),
        )}
      {state === 'PAUSED' && may('triggers.resume') && button(resume, 'arrow', ask('resume'))}
      {canPause && may('triggers.pause') && button(pause, 'pause', ask('pause'))}
      {!isSmall && canPause && may('triggers.skipNext') && <SkipButton of={key} />}
    </div>
  )
}

/** The dialog of what was asked with {@link TriggerButtons}. */
export function TriggerDialog({ asked }: { readonly asked: Signal<AskedOfTrigger> }): JSX.Element | null {
  const text = words()
  if (asked.value === null) return null
  const { key, what } = asked.value
  const name = keyText(key)
  return (
    <AskedDialog
      asked={what}
      onClose={() => {
        asked.value = null
      }}
      what={name}
      run={(jobDataMap) => call('triggers.run', { params: key, body: { jobDataMap } })}
      pause={(body) => call('triggers.pause', { params: key, body })}
      resume={(body) => call('triggers.resume', { params: key, body })}
      paused={text.paused(name)}
      resumed={text.resumed(name)}
    />
  )
}

/** Says which firing it is about before it leaves it out. */
function SkipButton({ of: key }: { readonly of: KeyJson }): JSX.Element {
  const text = words()
  const press = async (): Promise<void> => {
    const isStillHere = pageOfNow()
    const { result } = await call('triggers.skipNext', { params: key, body: {}, dryRun: true })
    if (!isStillHere()) return
    if (result === null) {
      say.done(text.noFireTimes)
      return
    }
    const next = result.nextMs === null ? text.noFireTimes : text.skipNext(fullInstantText(result.nextMs))
    const body = `${text.skipAsk(fullInstantText(result.skippedMs))} ${next}`
    if (!(await confirm({ title: text.skip, body, verb: text.skip }))) return
    try {
      // It may fire, or another operator may skip it, while the question is open.
      const body = { expectedMs: result.skippedMs }
      await act(
        call('triggers.skipNext', { params: key, body }),
        text.skipped(fullInstantText(result.skippedMs)),
      )
    } catch (error) {
      if (!isChanged(error)) throw error
      ownChange()
      say.problem(text.skipOther)
    }
  }
  return <Button text={text.skip} icon="skip" onPress={press} />
}

/** What an admin does to its definition. */
export function DefinitionButtons({
  of: key,
  canEdit,
}: {
  readonly of: KeyJson
  readonly canEdit: boolean
}): JSX.Element {
  const text = words()
  const { route } = useLocation()
  const { edit, remove } = common()
  const name = keyText(key)
  const press = async (): Promise<void> => {
    const isSure = await confirm({
      title: `${remove}: ${name}`,
      body: text.deleteAsk,
      verb: remove,
      isDanger: true,
      typed: key.name,
    })
    if (!isSure) return
    const isStillHere = pageOfNow()
    await act(call('triggers.delete', { params: key }), text.deleted(name))
    if (isStillHere()) route(href('/triggers'))
  }
  return (
    <>
      {canEdit && may('triggers.put') && (
        <a class="button plain" href={href(`${triggerPath(key)}/edit`)}>
          {edit}
        </a>
      )}
      {may('triggers.delete') && <Button text={remove} icon="remove" onPress={press} />}
    </>
  )
}
