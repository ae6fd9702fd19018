import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { triggerStates } from '../../../../src/jobstore/trigger-state.ts'
import type { TriggerSummaryJson } from '../../../../src/server/wire/triggers.ts'
import { call } from '../../api/client.ts'
import { fullPage } from '../../api/full-page.ts'
import type { BulkFilter } from '../../api/operations.ts'
import { useResource } from '../../api/resource.ts'
import { examples } from '../../examples.ts'
import { StateBadge } from '../../parts/badge.tsx'
import { BulkMenu } from '../../parts/bulk.tsx'
import { Empty, NoneFound } from '../../parts/empty.tsx'
import { JobLink, keyId, TriggerLink } from '../../parts/links.tsx'
import { Listing } from '../../parts/listing.tsx'
import { isOverdue, overdueBefore } from '../../parts/overdue.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/pager.tsx'
import { ChoiceBox, GroupChip, SearchBox } from '../../parts/search-box.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { When } from '../../parts/time.tsx'
import { href, useSearch } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { nowMs } from '../../time/clock.ts'
import { common } from '../../words/common.ts'
import { kindText } from './schedule-text.ts'
import { type AskedOfTrigger, TriggerButtons, TriggerDialog } from './trigger-actions.tsx'
import { words } from './words.ts'

const pageSize = 50
/** Stands among the states in the address: those that wait and should have fired. */
const overdueState = 'OVERDUE'

export function TriggerListPage(): JSX.Element {
  const text = words()
  const search = useSearch()
  const query = {
    search: search.get('search'),
    state: search.get('state'),
    group: search.get('group'),
    after: search.get('after'),
    take: pageSize,
  }
  const isOverdueAsked = query.state === overdueState
  const triggers = useResource(
    (signal) => {
      const asked = isOverdueAsked
        ? { ...query, state: 'NORMAL', dueBeforeMs: overdueBefore(nowMs()) }
        : query
      return fullPage((after) => call('triggers.list', { query: { ...asked, after }, signal }), query)
    },
    [JSON.stringify(query)],
    {
      isAffected: ({ event }) => event !== 'jobProgress',
    },
  )
  const asked = useSignal<AskedOfTrigger>(null)
  const page = triggers.value.value
  const isFiltered = query.search !== '' || query.state !== '' || query.group !== '' || query.after !== ''
  return (
    <>
      <PageHead
        title={text.title}
        actions={
          may('triggers.put') && (
            <a class="button primary" href={href('/triggers/new')}>
              {text.create}
            </a>
          )
        }
      />
      <div class="toolbar">
        <SearchBox label={text.searchHint} completes="triggers" />
        <StateChoice />
        <GroupChip />
        {/* What is overdue when it is done may be something else than what was listed. */}
        {!isOverdueAsked && <BulkMenu of="triggers" filter={chosenOf(query)} />}
      </div>
      <Listing title={text.title} of={triggers}>
        <Table
          caption={text.title}
          columns={columns(asked, triggers.loadedMs.value ?? 0)}
          rows={page?.items ?? null}
          keyOf={({ key }) => keyId(key)}
          empty={
            isFiltered ? (
              <NoneFound title={text.noneFound} hint={text.noneFoundHint} next={page?.next} />
            ) : (
              <Empty title={text.empty} hint={text.emptyHint} code={examples.firstTrigger} />
            )
          }
        />
        <Pager count={page?.items.length ?? 0} next={page?.next ?? null} />
      </Listing>
      <TriggerDialog asked={asked} />
    </>
  )
}

/** What the list is narrowed to; fields that are empty choose nothing. */
function chosenOf({
  search,
  state,
  group,
}: Readonly<Record<'search' | 'state' | 'group', string>>): BulkFilter {
  const known = triggerStates.find((each) => each === state)
  return {
    ...(search !== '' && { search }),
    ...(known !== undefined && { state: known }),
    ...(group !== '' && { group }),
  }
}

function StateChoice(): JSX.Element {
  const { overdue, states, state } = common()
  const known = triggerStates.filter((each) => each !== 'NONE')
  return (
    <ChoiceBox
      label={state}
      field="state"
      choices={[
        { value: '', text: words().allStates },
        ...known.map((each) => ({ value: each, text: states[each] })),
        { value: overdueState, text: overdue },
      ]}
    />
  )
}

function columns(asked: Signal<AskedOfTrigger>, lookedMs: number): readonly Column<TriggerSummaryJson>[] {
  const text = common()
  return [
    { id: 'trigger', title: text.trigger, cell: ({ key }) => <TriggerLink of={key} />, isWide: true },
    { id: 'job', title: text.job, cell: ({ jobKey }) => <JobLink of={jobKey} />, isMinor: true },
    { id: 'kind', title: words().kind, cell: ({ type }) => kindText(type), isMinor: true },
    {
      id: 'state',
      title: text.state,
      cell: (row) => (
        <StateBadge state={row.state} isOverdue={isOverdue(row, lookedMs)} isKnown={row.type !== 'unknown'} />
      ),
    },
    { id: 'next', title: text.nextFire, cell: ({ nextFireTimeMs }) => <When ms={nextFireTimeMs} /> },
    {
      id: 'previous',
      title: text.previousFire,
      cell: ({ previousFireTimeMs }) => <When ms={previousFireTimeMs} />,
      isMinor: true,
    },
    {
      id: 'actions',
      title: common().actions,
      isTitleHidden: true,
      cell: ({ key, state }) => <TriggerButtons of={key} state={state} asked={asked} isSmall />,
    },
  ]
}
