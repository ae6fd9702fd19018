import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { CalendarDefinition } from '../../../../src/triggers/calendars/calendar.ts'
import { call } from '../../api/client.ts'
import type { CalendarEdit } from '../../api/operations.ts'
import { Button } from '../../parts/button.tsx'
import { DataEditor, dataText, readData } from '../../parts/data-editor.tsx'
import { TextField } from '../../parts/fields.tsx'
import { TriggerLink } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { saveAsRead } from '../../parts/save.ts'
import { type Column, Table } from '../../parts/table.tsx'
import { Instant } from '../../parts/time.tsx'
import { useUnsaved } from '../../parts/unsaved.ts'
import { pageOfNow } from '../../state/place.ts'
import { numberText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { calendarHref } from './calendar-list.tsx'
import { words } from './words.ts'

interface CalendarFormProps {
  /** Null for one that is not stored yet. */
  readonly name: string | null
  readonly definition: CalendarDefinition
  /** As it was read. */
  readonly version: string | null
}

/** Changes a calendar; what that does to triggers is seen before. */
export function CalendarForm({ name, definition, version }: CalendarFormProps): JSX.Element {
  const text = words()
  const { route } = useLocation()
  const newName = useSignal('')
  const stored = dataText({ ...definition })
  const json = useSignal(stored)
  /** What was in the form before anybody typed, and its version. */
  const base = useSignal({ text: stored, version })
  useEffect(() => {
    if (json.value !== base.value.text) return
    json.value = stored
    base.value = { text: stored, version }
  }, [stored, version])
  useUnsaved(newName.value !== '' || json.value !== base.value.text)
  const preview = useSignal<{ readonly of: string; readonly edit: CalendarEdit } | null>(null)
  const target = name ?? newName.value.trim()
  const { data } = readData(json.value)
  const isReady = data !== null && target !== ''
  // Its constructor checks it on the server, whose answer says what is wrong.
  const body = { definition: data as unknown as CalendarDefinition, updateTriggers: true }
  const look = async (): Promise<void> => {
    const of = json.value
    const { result } = await call('calendars.put', { params: { name: target }, body, dryRun: true })
    preview.value = { of, edit: result }
  }
  const save = async (): Promise<void> => {
    const isStillHere = pageOfNow()
    const sent = json.value
    const isSaved = await saveAsRead({
      name: target,
      version: base.value.version,
      done: text.saved(target),
      put: (how) => call('calendars.put', { params: { name: target }, body, ...how }),
    })
    if (!isSaved) return
    // The version of before, until the page has read the new one.
    base.value = { text: sent, version: base.value.version }
    preview.value = null
    if (name === null && isStillHere()) route(calendarHref(target))
  }
  return (
    <Panel title={text.definition}>
      <div class="form">
        {name === null && (
          <TextField
            label={common().name}
            value={newName.value}
            isRequired
            onChange={(value) => {
              newName.value = value
            }}
          />
        )}
        <DataEditor label={text.definition} text={json} hint={text.definitionHint} />
        <div class="dialog-actions">
          <Button text={text.preview} isDisabled={!isReady} onPress={look} />
          <Button text={common().save} kind="primary" isDisabled={!isReady} onPress={save} />
        </div>
        {preview.value?.of === json.value && <Preview edit={preview.value.edit} />}
      </div>
    </Panel>
  )
}

function Preview({ edit }: { readonly edit: CalendarEdit }): JSX.Element {
  const text = words()
  if (JSON.stringify(edit.before) === JSON.stringify(edit.after))
    return <p class="note info">{text.unchanged}</p>
  const triggers = edit.triggers === null ? text.before500 : numberText(edit.triggers)
  return (
    <div role="status">
      <p class="note info">{text.effect(triggers, numberText(edit.moved))}</p>
      <Table
        caption={text.moves}
        columns={columns()}
        rows={edit.first}
        keyOf={({ key }) => JSON.stringify(key)}
        empty=""
      />
    </div>
  )
}

function columns(): readonly Column<CalendarEdit['first'][number]>[] {
  const text = words()
  return [
    { id: 'trigger', title: common().trigger, cell: ({ key }) => <TriggerLink of={key} />, isWide: true },
    { id: 'before', title: text.beforeMs, cell: ({ beforeMs }) => <Instant ms={beforeMs} /> },
    { id: 'after', title: text.afterMs, cell: ({ afterMs }) => <Instant ms={afterMs} /> },
  ]
}
