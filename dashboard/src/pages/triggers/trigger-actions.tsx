import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import type { TriggerState } from '../../../../src/jobstore/trigger-state.ts'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import { call } from '../../api/client.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { keyText } from '../../parts/links.tsx'
import { RunDialog } from '../../parts/run-dialog.tsx'
import { href, triggerPath } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

interface TriggerButtonsProps {
  readonly of: KeyJson
  readonly state: TriggerState
  readonly isSmall?: boolean
}

/** What an operator does to a trigger. */
export function TriggerButtons({ of: key, state, isSmall = false }: TriggerButtonsProps): JSX.Element {
  const text = words()
  const { pause, resume, run } = common()
  const isRunning = useSignal(false)
  const name = keyText(key)
  const label = (verb: string): string => (isSmall ? `${verb}: ${name}` : verb)
  const look = isSmall ? ({ kind: 'quiet', isSmall } as const) : {}
  return (
    <div class="row-actions">
      {may('triggers.run') && (
        <Button
          text={label(run)}
          icon="play"
          {...look}
          onPress={() => {
            isRunning.value = true
          }}
        />
      )}
      {state === 'ERROR' && may('triggers.resetError') && (
        <Button
          text={label(text.resetVerb)}
          icon="check"
          {...look}
          onPress={() => act(call('triggers.resetError', { params: key }), text.reset(name))}
        />
      )}
      {state === 'PAUSED' && may('triggers.resume') && (
        <Button
          text={label(resume)}
          icon="arrow"
          {...look}
          onPress={() => act(call('triggers.resume', { params: key }), text.resumed(name))}
        />
      )}
      {(state === 'NORMAL' || state === 'BLOCKED') && may('triggers.pause') && (
        <Button
          text={label(pause)}
          icon="pause"
          {...look}
          onPress={() => act(call('triggers.pause', { params: key }), text.paused(name))}
        />
      )}
      {isRunning.value && (
        <RunDialog
          what={name}
          run={(jobDataMap) => call('triggers.run', { params: key, body: { jobDataMap } })}
          onClose={() => {
            isRunning.value = false
          }}
        />
      )}
    </div>
  )
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
    await act(call('triggers.delete', { params: key }), text.deleted(name))
    route(href('/triggers'))
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
