import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import { visibleName } from '../../../../src/core/visible-text.ts'
import { call, notThere, read } from '../../api/client.ts'
import { isUnreadable } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import type { PageProps } from '../../pages.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { Json } from '../../parts/code.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { href, pageOfNow } from '../../state/place.ts'
import { browserZone } from '../../state/preferences.ts'
import { may } from '../../state/session.ts'
import { numberText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { CalendarForm } from './calendar-form.tsx'
import { fieldText, typeText } from './calendar-list.tsx'
import { CalendarMonth } from './month.tsx'
import { words } from './words.ts'

export function CalendarPage({ params }: PageProps): JSX.Element {
  const text = words()
  const names = common()
  const name = params['name'] ?? ''
  const loaded = useResource((signal) => read('calendars.get', { params: { name }, signal }), [name], {
    isAffected: ({ event }) => event === 'changedElsewhere',
  })
  const shown = loaded.value.value?.value ?? null
  const version = loaded.value.value?.version ?? null
  const error = loaded.error.value
  const note = error !== null && <ProblemNote error={error} retry={loaded.reload} />
  // It can still be deleted.
  const isBroken = shown === null && isUnreadable(error)
  // A form that is there keeps what is typed into it.
  if (note !== false && shown === null && !isBroken) return note
  return (
    <>
      <PageHead
        title={name}
        above={<a href={href('/calendars')}>{text.title}</a>}
        actions={
          (shown !== null || isBroken) && (
            <DeleteButton name={name} triggers={shown === null ? 0 : shown.triggers} />
          )
        }
      />
      {note}
      {shown !== null && (
        <Panel title={names.calendar}>
          <Facts
            facts={[
              { name: names.type, value: typeText(shown.definition.type) },
              { name: text.zone, value: fieldText(shown.definition, 'timeZone') },
              { name: names.description, value: fieldText(shown.definition, 'description') },
              {
                name: text.triggers,
                value: shown.triggers === null ? text.many : numberText(shown.triggers),
              },
            ]}
          />
        </Panel>
      )}
      {!isBroken && (
        <div class="columns">
          <CalendarMonth name={name} />
          {shown !== null &&
            (may('calendars.put') ? (
              <CalendarForm name={name} definition={shown.definition} version={version} />
            ) : (
              <Panel title={text.definition}>
                <Json value={shown.definition} label={text.definition} />
              </Panel>
            ))}
        </div>
      )}
    </>
  )
}

export function NewCalendarPage(): JSX.Element {
  const text = words()
  return (
    <>
      <PageHead title={text.create} above={<a href={href('/calendars')}>{text.title}</a>} />
      <CalendarForm
        name={null}
        version={notThere}
        definition={{ type: 'holiday', timeZone: browserZone, excludedDates: ['2026-12-25'] }}
      />
    </>
  )
}

interface DeleteButtonProps {
  readonly name: string
  readonly triggers: number | null
}

function DeleteButton({ name, triggers }: DeleteButtonProps): JSX.Element | null {
  const text = words()
  const { remove } = common()
  const { route } = useLocation()
  if (!may('calendars.delete')) return null
  if (triggers !== 0) return <small>{text.inUse}</small>
  const press = async (): Promise<void> => {
    const title = `${remove}: ${visibleName(name)}`
    if (!(await confirm({ title, body: text.deleteAsk, verb: remove, isDanger: true, typed: name }))) return
    const isStillHere = pageOfNow()
    await act(call('calendars.delete', { params: { name } }), text.deleted(visibleName(name)))
    if (isStillHere()) route(href('/calendars'))
  }
  return <Button text={remove} icon="remove" onPress={press} />
}
