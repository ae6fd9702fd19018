import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import type { TriggerFieldsJson } from '../../../../src/server/wire/triggers.ts'
import { call, notThere, read } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { PageProps } from '../../pages.ts'
import { Button } from '../../parts/button.tsx'
import { keyText } from '../../parts/links.tsx'
import { MayNotSave } from '../../parts/may-not-save.tsx'
import { NoEditor } from '../../parts/no-editor.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { saveAsRead } from '../../parts/save.ts'
import { discards, useUnsaved } from '../../parts/unsaved.ts'
import { href, pageOfNow, triggerPath, useSearch } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { msOfLocal } from '../../time/local-input.ts'
import { common } from '../../words/common.ts'
import { dialects, dstRules } from '../cron/cron-text.ts'
import { type Draft, draftOf, fieldsOfDraft, newDraft } from './draft.ts'
import { TriggerForm } from './trigger-form.tsx'
import { TriggerPreview } from './trigger-preview.tsx'
import { words } from './words.ts'

/** Edits a trigger that is stored. */
export function EditTriggerPage({ params }: PageProps): JSX.Element {
  const key = { group: params['group'] ?? '', name: params['name'] ?? '' }
  // It is loaded once: what somebody types is not replaced by what another one stores.
  const stored = useResource((signal) => read('triggers.get', { params: key, signal }), [], { isOnce: true })
  const { title, editTitle, ownFamily } = words()
  const loaded = stored.value.value
  const error = stored.error.value
  if (error === null && loaded === null) return <p class="muted">{common().loading}</p>
  const definition = loaded?.value.definition ?? null
  if (error !== null || loaded === null || definition === null) {
    return (
      <NoEditor title={editTitle} list={{ path: '/triggers', title }} of={key} back={triggerPath(key)}>
        {error === null ? (
          <p class="note info">{ownFamily}</p>
        ) : (
          <ProblemNote error={error} retry={stored.reload} />
        )}
      </NoEditor>
    )
  }
  return <Editor draft={draftOf(key, definition)} stored={definition} version={loaded.version} />
}

/** Makes a new trigger, for the job and with the expression and all that belongs to it that the address names. */
export function NewTriggerPage(): JSX.Element {
  const search = useSearch()
  const dialect = dialects.find((each) => each === search.get('dialect'))
  const dst = dstRules.find((each) => each === search.get('dst'))
  const given: Partial<Draft> = {
    ...(search.get('jobName') !== '' && {
      jobGroup: search.get('jobGroup'),
      jobName: search.get('jobName'),
      group: search.get('jobGroup'),
      name: search.get('jobName'),
    }),
    ...(search.get('expression') !== '' && { expression: search.get('expression') }),
    ...(search.get('zone') !== '' && { timeZone: search.get('zone') }),
    ...(dialect !== undefined && { dialect }),
    ...(dst !== undefined && { dst }),
    calendarName: search.get('calendar'),
    start: msOfLocal(search.get('from')) === null ? '' : search.get('from'),
  }
  return <Editor draft={{ ...newDraft, ...given }} stored={null} version={notThere} />
}

interface EditorProps {
  readonly draft: Draft
  readonly stored: TriggerFieldsJson | null
  /** As it was read. */
  readonly version: string | null
}

function Editor({ draft: initial, stored, version }: EditorProps): JSX.Element {
  const text = words()
  const { save, cancel } = common()
  const { route } = useLocation()
  const draft: Signal<Draft> = useSignal(initial)
  const key = { group: draft.value.group, name: draft.value.name }
  const fields = fieldsOfDraft(draft.value, stored)
  const back = stored === null ? '/triggers' : triggerPath(key)
  useUnsaved(JSON.stringify(draft.value) !== JSON.stringify(initial))
  const isReady = fields !== null && key.name.trim() !== '' && draft.value.jobName.trim() !== ''
  const store = async (): Promise<void> => {
    if (fields === null) return
    const isStillHere = pageOfNow()
    const name = keyText(key)
    const isSaved = await saveAsRead({
      name,
      version,
      done: text.saved(name),
      put: (how) => call('triggers.put', { params: key, body: fields, ...how }),
    })
    if (isSaved && isStillHere()) route(href(triggerPath(key)))
  }
  return (
    <>
      <PageHead
        title={stored === null ? text.create : text.editTitle}
        above={<a href={href('/triggers')}>{text.title}</a>}
        below={stored !== null && keyText(key)}
        actions={
          <>
            <a class="button plain" href={href(back)} {...discards}>
              {cancel}
            </a>
            <Button
              text={save}
              icon="check"
              kind="primary"
              isDisabled={!isReady || !may('triggers.put')}
              onPress={store}
            />
          </>
        }
      />
      <MayNotSave by="triggers.put" />
      <TriggerForm
        draft={draft.value}
        isNew={stored === null}
        onChange={(changes) => {
          draft.value = { ...draft.value, ...changes }
        }}
      />
      <TriggerPreview of={key} fields={isReady ? fields : null} />
    </>
  )
}
