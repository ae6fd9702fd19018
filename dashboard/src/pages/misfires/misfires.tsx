import type { JSX } from 'preact'
import { misfireCauses } from '../../../../src/jobstore/misfires.ts'
import { call } from '../../api/client.ts'
import { fullPage } from '../../api/full-page.ts'
import { useResource } from '../../api/resource.ts'
import { CsvLink } from '../../parts/csv-link.tsx'
import { Empty, NoneFound } from '../../parts/empty.tsx'
import { Listing } from '../../parts/listing.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/pager.tsx'
import { ChoiceBox, SearchBox } from '../../parts/search-box.tsx'
import { useSearch } from '../../state/place.ts'
import { MisfireTable } from './misfire-table.tsx'
import { words } from './words.ts'

const pageSize = 50

export function MisfiresPage(): JSX.Element {
  const text = words()
  const search = useSearch()
  const typed = search.get('filter')
  const cause = search.get('cause')
  const after = search.get('after')
  const filter = [typed, cause === '' ? '' : `cause:${cause}`].filter((part) => part !== '').join(' ')
  const query = { filter, after, take: pageSize }
  const misfires = useResource(
    (signal) => fullPage((after) => call('misfires.list', { query: { ...query, after }, signal }), query),
    [JSON.stringify(query)],
    { isAffected: ({ event }) => after === '' && event === 'triggerMisfired', everyMs: 5000 },
  )
  const page = misfires.value.value
  return (
    <>
      <PageHead
        title={text.title}
        below={<span>{text.hint}</span>}
        actions={<CsvLink of="misfires.list" query={{ filter }} file="misfires.csv" />}
      />
      <div class="toolbar">
        <SearchBox label={text.filterLabel} field="filter" placeholder={text.filterHint} />
        <ChoiceBox
          label={text.cause}
          field="cause"
          choices={[
            { value: '', text: text.allCauses },
            ...misfireCauses.map((value) => ({ value, text: text.causes[value] })),
          ]}
        />
      </div>
      <Listing title={text.title} of={misfires}>
        <MisfireTable
          caption={text.title}
          rows={page?.items ?? null}
          empty={
            filter === '' ? (
              <Empty title={text.empty} hint={text.emptyHint} />
            ) : (
              <NoneFound title={text.noneFound} hint={text.noneFoundHint} next={page?.next} />
            )
          }
        />
        <Pager count={page?.items.length ?? 0} next={page?.next ?? null} />
      </Listing>
    </>
  )
}
