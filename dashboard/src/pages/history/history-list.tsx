import type { JSX } from 'preact'
import { call } from '../../api/client.ts'
import { fullPage } from '../../api/full-page.ts'
import { failuresFilter } from '../../api/outcomes.ts'
import { useResource } from '../../api/resource.ts'
import { examples } from '../../examples.ts'
import { CsvLink } from '../../parts/csv-link.tsx'
import { Empty, NoneFound } from '../../parts/empty.tsx'
import { ExecutionTable } from '../../parts/execution-table.tsx'
import { Listing } from '../../parts/listing.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/pager.tsx'
import { ChoiceBox, SearchBox } from '../../parts/search-box.tsx'
import { useSearch } from '../../state/place.ts'
import { nowMs } from '../../time/clock.ts'
import { words } from './words.ts'

const pageSize = 50
const hourMs = 3_600_000

const spans: Readonly<Record<string, number>> = { hour: hourMs, day: 24 * hourMs, week: 168 * hourMs }

export function HistoryPage(): JSX.Element {
  const text = words()
  const search = useSearch()
  const filter = search.get('filter')
  const span = search.get('within')
  const after = search.get('after')
  const query = { filter, after, take: pageSize }
  const withinMs = spans[span]
  const fromMs = (): number | undefined =>
    withinMs === undefined ? undefined : Math.floor(nowMs() - withinMs)
  const executions = useResource(
    (signal) => {
      const narrowed = { ...query, fromMs: fromMs() }
      return fullPage(
        (from) => call('executions.list', { query: { ...narrowed, after: from }, signal }),
        query,
      )
    },
    [JSON.stringify(query), span],
    { isAffected: ({ event }) => after === '' && (event === 'jobWasExecuted' || event === 'executionLost') },
  )
  const page = executions.value.value
  const isFiltered = filter !== '' || span !== ''
  return (
    <>
      <PageHead
        title={text.title}
        actions={<CsvLink of="executions.list" query={{ filter, fromMs: fromMs() }} file="executions.csv" />}
      />
      <div class="toolbar">
        <SearchBox
          label={text.filterLabel}
          field="filter"
          placeholder={text.filterHint}
          completes="executions"
        />
        <TimeChoice />
        <QuickFilters />
      </div>
      <Listing title={text.title} of={executions}>
        <ExecutionTable
          caption={text.title}
          rows={page?.items ?? null}
          empty={
            isFiltered ? (
              <NoneFound title={text.noneFound} hint={text.noneFoundHint} next={page?.next} />
            ) : (
              <Empty title={text.empty} hint={text.emptyHint} code={examples.rememberAll} />
            )
          }
        />
        <Pager count={page?.items.length ?? 0} next={page?.next ?? null} />
      </Listing>
    </>
  )
}

function QuickFilters(): JSX.Element {
  const text = words()
  const search = useSearch()
  const filters = [
    { name: text.failures, filter: failuresFilter },
    { name: text.late, filter: 'late>5s' },
    { name: text.long, filter: 'took>1m' },
  ]
  return (
    <div class="chips" role="group" aria-label={text.quick}>
      {filters.map(({ name, filter }) => {
        const isOn = search.get('filter') === filter
        return (
          <a
            key={filter}
            class={isOn ? 'chip is-on' : 'chip'}
            aria-current={isOn ? 'true' : undefined}
            href={search.with({ filter: isOn ? '' : filter, after: '' })}
          >
            {name}
          </a>
        )
      })}
    </div>
  )
}

function TimeChoice(): JSX.Element {
  const text = words()
  return (
    <ChoiceBox
      label={text.times}
      field="within"
      choices={[
        { value: '', text: text.anyTime },
        { value: 'hour', text: text.lastHour },
        { value: 'day', text: text.lastDay },
        { value: 'week', text: text.lastWeek },
      ]}
    />
  )
}
