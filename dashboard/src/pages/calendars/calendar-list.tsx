import type { JSX } from 'preact'
import { visible, visibleName } from '../../../../src/core/visible-text.ts'
import type { ListedCalendarJson } from '../../../../src/server/operations/calendars.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { examples } from '../../examples.ts'
import { Badge } from '../../parts/badge.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Listing } from '../../parts/listing.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { href, pathText } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

export function CalendarListPage(): JSX.Element {
  const text = words()
  const calendars = useResource((signal) => call('calendars.list', { signal }), [], {
    isAffected: ({ event }) => event === 'changedElsewhere',
  })
  return (
    <>
      <PageHead
        title={text.title}
        below={text.below}
        actions={
          may('calendars.put') && (
            <a class="button primary" href={href('/calendars/new')}>
              {text.create}
            </a>
          )
        }
      />
      <Listing title={text.title} of={calendars}>
        <Table
          caption={text.title}
          columns={columns()}
          rows={calendars.value.value?.items ?? null}
          keyOf={({ name }) => name}
          empty={<Empty title={text.empty} hint={text.emptyHint} code={examples.firstCalendar} />}
        />
      </Listing>
    </>
  )
}

export function calendarHref(name: string): string {
  return href(`/calendars/of/${pathText(name)}`)
}

/** A field of a definition, whose fields depend on its type. */
export function fieldText(definition: object, field: string): string {
  const value = (definition as Readonly<Record<string, unknown>>)[field]
  return typeof value === 'string' ? visible(value) : unknownText
}

/** A type in words; that of an application's own calendars as it is. */
export function typeText(type: string): string {
  const known: Readonly<Record<string, string>> = words().types
  return (Object.hasOwn(known, type) ? known[type] : undefined) ?? type
}

function columns(): readonly Column<ListedCalendarJson>[] {
  const text = words()
  const names = common()
  return [
    {
      id: 'name',
      title: names.name,
      cell: ({ name }) => (
        <a class="key" href={calendarHref(name)}>
          {visibleName(name)}
        </a>
      ),
      isWide: true,
    },
    {
      id: 'type',
      title: names.type,
      cell: ({ definition }) =>
        definition === null ? <Badge tone="bad" text={text.unreadable} /> : typeText(definition.type),
    },
    { id: 'zone', title: text.zone, cell: ({ definition }) => fieldText(definition ?? {}, 'timeZone') },
    {
      id: 'description',
      title: names.description,
      cell: ({ definition, problem }) => problem ?? fieldText(definition ?? {}, 'description'),
      isMinor: true,
    },
  ]
}
