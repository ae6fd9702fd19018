import type { ComponentChildren, JSX } from 'preact'
import type { MisfireCause } from '../../../../src/jobstore/misfires.ts'
import type { MisfireJson } from '../../../../src/server/wire/misfires.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { JobLink, TriggerLink } from '../../parts/links.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Instant } from '../../parts/time.tsx'
import { numberText, unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

const tones: Readonly<Record<MisfireCause, Tone>> = {
  outage: 'bad',
  poolFull: 'bad',
  blocked: 'warn',
  late: 'warn',
  paused: 'info',
  calendar: 'quiet',
  skippedByHand: 'quiet',
  vetoed: 'quiet',
  lost: 'bad',
}

interface MisfireTableProps {
  readonly caption: string
  readonly rows: readonly MisfireJson[] | null
  readonly empty: ComponentChildren
  /** Of a page that is about them. */
  readonly without?: readonly string[]
}

/** Planned fire times that did not become runs. */
export function MisfireTable({ caption, rows, empty, without = [] }: MisfireTableProps): JSX.Element {
  return (
    <Table
      caption={caption}
      columns={columns().filter(({ id }) => !without.includes(id))}
      rows={rows}
      keyOf={({ id }) => id}
      empty={empty}
    />
  )
}

function columns(): readonly Column<MisfireJson>[] {
  const text = words()
  const names = common()
  return [
    {
      id: 'cause',
      title: text.cause,
      cell: ({ cause }) => <Badge tone={tones[cause]} text={text.causes[cause]} />,
    },
    { id: 'trigger', title: names.trigger, cell: ({ triggerKey }) => <TriggerLink of={triggerKey} /> },
    {
      id: 'job',
      title: names.job,
      cell: ({ jobKey }) => (jobKey === null ? unknownText : <JobLink of={jobKey} />),
      isMinor: true,
    },
    {
      id: 'fires',
      title: text.fires,
      cell: ({ count }) => (count === null ? text.many : numberText(count)),
      isNumber: true,
    },
    { id: 'first', title: text.first, cell: ({ fromMs }) => <Instant ms={fromMs} /> },
    { id: 'last', title: text.last, cell: ({ toMs }) => <Instant ms={toMs} /> },
    {
      id: 'policy',
      title: text.policy,
      cell: ({ policy }) => (policy === null ? unknownText : text.policies[policy]),
      isMinor: true,
    },
    {
      id: 'noticed',
      title: text.noticed,
      cell: ({ noticedTimeMs }) => <Instant ms={noticedTimeMs} />,
      isMinor: true,
    },
    { id: 'node', title: names.node, cell: ({ node }) => node, isMinor: true },
  ]
}
