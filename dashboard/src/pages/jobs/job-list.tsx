import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { visible } from '../../../../src/core/visible-text.ts'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import type { JobSummaryJson } from '../../../../src/server/wire/jobs.ts'
import { call } from '../../api/client.ts'
import { fullPage } from '../../api/full-page.ts'
import type { BulkFilter } from '../../api/operations.ts'
import { useResource } from '../../api/resource.ts'
import { examples } from '../../examples.ts'
import { BulkMenu } from '../../parts/bulk.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty, NoneFound } from '../../parts/empty.tsx'
import { JobLink, keyId, keyText } from '../../parts/links.tsx'
import { Listing } from '../../parts/listing.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/pager.tsx'
import { GroupChip, SearchBox } from '../../parts/search-box.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { href, useSearch } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { RunJobDialog } from './run-job-dialog.tsx'
import { words } from './words.ts'

const definitionEvents = new Set(['jobAdded', 'jobDeleted', 'schedulingDataCleared', 'changedElsewhere'])
export const pageSize = 50

export function JobListPage(): JSX.Element {
  const text = words()
  const search = useSearch()
  const query = {
    search: search.get('search'),
    group: search.get('group'),
    after: search.get('after'),
    take: pageSize,
  }
  const jobs = useResource(
    (signal) => fullPage((after) => call('jobs.list', { query: { ...query, after }, signal }), query),
    [JSON.stringify(query)],
    {
      isAffected: ({ event }) => definitionEvents.has(event),
    },
  )
  const asked = useSignal<KeyJson | null>(null)
  const page = jobs.value.value
  const isFiltered = query.search !== '' || query.group !== '' || query.after !== ''
  return (
    <>
      <PageHead
        title={text.title}
        actions={
          may('jobs.put') && (
            <a class="button primary" href={href('/jobs/new')}>
              {text.create}
            </a>
          )
        }
      />
      <div class="toolbar">
        <SearchBox label={text.searchHint} completes="jobs" />
        <GroupChip />
        <BulkMenu of="jobs" filter={chosenOf(query)} />
      </div>
      <Listing title={text.title} of={jobs}>
        <Table
          caption={text.title}
          columns={columns(asked)}
          rows={page?.items ?? null}
          keyOf={({ key }) => keyId(key)}
          empty={
            isFiltered ? (
              <NoneFound title={text.noneFound} hint={text.noneFoundHint} next={page?.next} />
            ) : (
              <Empty title={text.empty} hint={text.emptyHint} code={examples.firstJob} />
            )
          }
        />
        <Pager count={page?.items.length ?? 0} next={page?.next ?? null} />
      </Listing>
      <RunJobDialog asked={asked} />
    </>
  )
}

/** What the list is narrowed to; fields that are empty choose nothing. */
function chosenOf({ search, group }: Readonly<Record<'search' | 'group', string>>): BulkFilter {
  return { ...(search !== '' && { search }), ...(group !== '' && { group }) }
}

function columns(asked: Signal<KeyJson | null>): readonly Column<JobSummaryJson>[] {
  const { job, type, description, run } = common()
  const text = words()
  return [
    { id: 'job', title: job, cell: ({ key }) => <JobLink of={key} />, isWide: true },
    { id: 'type', title: type, cell: ({ jobType }) => <span class="key mono">{jobType}</span> },
    {
      id: 'description',
      title: description,
      cell: (row) => <span class="key">{visible(row.description ?? '')}</span>,
      isMinor: true,
    },
    { id: 'traits', title: text.traits, cell: (row) => <Traits of={row} />, isMinor: true },
    {
      id: 'actions',
      title: common().actions,
      isTitleHidden: true,
      cell: ({ key }) =>
        may('jobs.run') && (
          <div class="row-actions">
            <Button
              text={`${run}: ${keyText(key)}`}
              icon="play"
              kind="quiet"
              isSmall
              onPress={() => {
                asked.value = key
              }}
            />
          </div>
        ),
    },
  ]
}

/** Not one letter below the other where there is little room. */
function Traits({ of }: { readonly of: JobSummaryJson }): JSX.Element {
  return (
    <>
      {traitsOf(of).map((trait) => (
        <span key={trait} class="trait">
          {trait}
        </span>
      ))}
    </>
  )
}

export function traitsOf(
  job: Pick<
    JobSummaryJson,
    'durable' | 'requestsRecovery' | 'disallowConcurrentExecution' | 'persistJobDataAfterExecution'
  >,
): readonly string[] {
  const text = words()
  return [
    job.durable && text.durable,
    job.requestsRecovery && text.recovery,
    job.disallowConcurrentExecution && text.exclusive,
    job.persistJobDataAfterExecution && text.persists,
  ].filter((trait) => trait !== false)
}
