import type { JSX } from 'preact'
import { type AuditEntry, type AuditOutcome, auditOutcomes } from '../../../../src/jobstore/audit.ts'
import { readTypedKey } from '../../../../src/server/wire/typed-key.ts'
import { call } from '../../api/client.ts'
import { fullPage } from '../../api/full-page.ts'
import { useResource } from '../../api/resource.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { CsvLink } from '../../parts/csv-link.tsx'
import { Empty, NoneFound } from '../../parts/empty.tsx'
import { Listing } from '../../parts/listing.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/pager.tsx'
import { ChoiceBox, SearchBox } from '../../parts/search-box.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Instant } from '../../parts/time.tsx'
import { useSearch } from '../../state/place.ts'
import { session } from '../../state/session.ts'
import { nowMs } from '../../time/clock.ts'
import { unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { EntryDetails, Target } from './entry.tsx'
import { words } from './words.ts'

const pageSize = 50
const dayMs = 86_400_000
const spans: Readonly<Record<string, number>> = { day: dayMs, week: 7 * dayMs, month: 30 * dayMs }
const tones: Readonly<Record<AuditOutcome, Tone>> = { done: 'good', refused: 'warn', failed: 'bad' }

/** A group and a name, or a name alone. */
function targetOf(text: string): { readonly group?: string; readonly name?: string } {
  const { group, name } = readTypedKey(text)
  return { ...(group !== null && group !== '' && { group }), ...(name !== '' && { name }) }
}

export function AuditPage(): JSX.Element {
  const text = words()
  const search = useSearch()
  const withinMs = spans[search.get('within')]
  const filter = {
    by: search.get('by'),
    operation: search.get('operation'),
    outcome: search.get('outcome'),
    ...targetOf(search.get('about')),
  }
  const fromMs = (): number | undefined =>
    withinMs === undefined ? undefined : Math.floor(nowMs() - withinMs)
  const after = search.get('after')
  const entries = useResource(
    (signal) => {
      const query = { ...filter, fromMs: fromMs(), take: pageSize }
      return fullPage((from) => call('audit.list', { query: { ...query, after: from }, signal }), {
        after,
        take: pageSize,
      })
    },
    [JSON.stringify(filter), after, withinMs],
    { everyMs: 5000 },
  )
  const page = entries.value.value
  const isFiltered = withinMs !== undefined || Object.values(filter).some((value) => value !== '')
  return (
    <>
      <PageHead
        title={text.title}
        below={text.below}
        actions={<CsvLink of="audit.list" query={{ ...filter, fromMs: fromMs() }} file="audit.csv" />}
      />
      <Filters />
      <Listing title={text.title} of={entries}>
        <Table
          caption={text.title}
          columns={columns()}
          rows={page?.items ?? null}
          keyOf={({ id }) => id}
          detail={(entry) => <EntryDetails of={entry} />}
          empty={
            isFiltered ? (
              <NoneFound title={text.noneFound} hint={text.noneFoundHint} next={page?.next} />
            ) : (
              <Empty title={text.empty} hint={text.emptyHint} />
            )
          }
        />
        <Pager count={page?.items.length ?? 0} next={page?.next ?? null} />
      </Listing>
    </>
  )
}

function Filters(): JSX.Element {
  const text = words()
  const allowed = (session.value?.operations ?? []).filter((id) => !/\.(list|get|stats)$/.test(id))
  // No request, and told all the same.
  const operations = [...allowed, 'bulk.end'].sort()
  return (
    <div class="toolbar">
      <SearchBox label={text.who} field="by" placeholder={text.whoHint} />
      <SearchBox label={text.target} field="about" placeholder={text.targetHint} />
      <ChoiceBox
        label={text.operation}
        field="operation"
        choices={[
          { value: '', text: text.anyOperation },
          ...operations.map((id) => ({ value: id, text: id })),
        ]}
      />
      <ChoiceBox
        label={common().outcome}
        field="outcome"
        choices={[
          { value: '', text: common().all },
          ...auditOutcomes.map((value) => ({ value, text: text.outcomes[value] })),
        ]}
      />
      <ChoiceBox
        label={text.within}
        field="within"
        choices={[
          { value: '', text: text.anyTime },
          { value: 'day', text: text.lastDay },
          { value: 'week', text: text.lastWeek },
          { value: 'month', text: text.lastMonth },
        ]}
      />
    </div>
  )
}

function columns(): readonly Column<AuditEntry>[] {
  const text = words()
  const names = common()
  return [
    { id: 'time', title: text.time, cell: ({ timeMs }) => <Instant ms={timeMs} /> },
    { id: 'who', title: text.who, cell: ({ by }) => <Who by={by} /> },
    {
      id: 'operation',
      title: text.operation,
      cell: ({ operation }) => <span class="mono">{operation}</span>,
    },
    { id: 'target', title: text.target, cell: (entry) => <Target of={entry} /> },
    { id: 'outcome', title: names.outcome, cell: (entry) => <Outcome of={entry} /> },
    { id: 'from', title: text.from, cell: ({ address }) => address ?? unknownText, isMinor: true },
    { id: 'node', title: names.node, cell: ({ node }) => node, isMinor: true },
  ]
}

/** Leads to all that one has done. */
function Who({ by }: { readonly by: string | null }): JSX.Element {
  const search = useSearch()
  if (by === null) return <span class="muted">{words().unknown}</span>
  return <a href={search.with({ by, after: '' })}>{by}</a>
}

function Outcome({ of: { outcome, times } }: { readonly of: AuditEntry }): JSX.Element {
  const text = words()
  return (
    <span class="actions">
      <Badge tone={tones[outcome]} text={text.outcomes[outcome]} />
      {times > 1 && (
        <span class="muted" title={text.times(times)}>
          ×{times}
        </span>
      )}
    </span>
  )
}
