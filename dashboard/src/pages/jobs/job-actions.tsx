import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import { call } from '../../api/client.ts'
import { act } from '../../parts/action.ts'
import { type Asked, AskedDialog } from '../../parts/asked-dialog.tsx'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { keyText } from '../../parts/links.tsx'
import { href, jobPath, pageOfNow } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

/** What can be done to the triggers of a job. */
export interface TriggerStates {
  readonly isAnyPaused: boolean
  readonly isAnyOther: boolean
  /** How many they are; null for more than were counted. */
  readonly count: number | null
}

interface JobButtonsProps {
  readonly of: KeyJson
  readonly states: TriggerStates
}

export function JobButtons({ of: key, states }: JobButtonsProps): JSX.Element {
  const text = words()
  const { run, pause, resume, edit, remove, interrupt } = common()
  const { route } = useLocation()
  const asked = useSignal<Asked | null>(null)
  const ask = (what: Asked) => (): void => {
    asked.value = what
  }
  const name = keyText(key)
  const deleteJob = async (): Promise<void> => {
    const body = text.deleteAsk(states.count)
    if (
      !(await confirm({ title: `${remove}: ${name}`, body, verb: remove, isDanger: true, typed: key.name }))
    )
      return
    const isStillHere = pageOfNow()
    await act(call('jobs.delete', { params: key }), text.deleted(name))
    if (isStillHere()) route(href('/jobs'))
  }
  const interruptAll = async (): Promise<void> => {
    if (
      !(await confirm({ title: interrupt, body: text.interruptAsk(name), verb: interrupt, isDanger: true }))
    )
      return
    await act(call('jobs.interrupt', { params: key }), text.interrupted(name))
  }
  return (
    <>
      {may('jobs.run') && <Button text={run} icon="play" kind="primary" onPress={ask('run')} />}
      {states.isAnyOther && may('jobs.pause') && <Button text={pause} icon="pause" onPress={ask('pause')} />}
      {states.isAnyPaused && may('jobs.resume') && (
        <Button text={resume} icon="arrow" onPress={ask('resume')} />
      )}
      {may('jobs.interrupt') && <Button text={interrupt} icon="stop" onPress={interruptAll} />}
      {may('jobs.put') && (
        <a class="button plain" href={href(`${jobPath(key)}/edit`)}>
          {edit}
        </a>
      )}
      {may('jobs.delete') && <Button text={remove} icon="remove" onPress={deleteJob} />}
      <AskedDialog
        asked={asked.value}
        onClose={() => {
          asked.value = null
        }}
        what={name}
        run={(jobDataMap) => call('jobs.run', { params: key, body: { jobDataMap } })}
        pause={(body) => call('jobs.pause', { params: key, body })}
        resume={(body) => call('jobs.resume', { params: key, body })}
        paused={text.paused(name)}
        resumed={text.resumed(name)}
      />
    </>
  )
}
