import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { useResource } from '../../api/resource.ts'
import { examples } from '../../examples.ts'
import { Empty } from '../../parts/empty.tsx'
import { Fresh } from '../../parts/fresh.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { ChoiceBox, SearchBox } from '../../parts/search-box.tsx'
import { type Search, useSearch } from '../../state/place.ts'
import { nowMs, tick } from '../../time/clock.ts'
import { fullInstantText, instantText } from '../../time/format.ts'
import { inks } from './drawing.ts'
import { type Loaded, loadTimeline, type TimelineWindow } from './load.ts'
import { RowName, RowTable } from './row-table.tsx'
import { type BarKind, type Row, type RowKind, rowKinds, rowsOf } from './rows.ts'
import { kindText, TimelineCanvas } from './timeline-canvas.tsx'
import { words } from './words.ts'

const minuteMs = 60_000
const spansMs = {
  minute: minuteMs,
  quarter: 15 * minuteMs,
  hour: 60 * minuteMs,
  quarterDay: 360 * minuteMs,
  day: 1440 * minuteMs,
  week: 7 * 1440 * minuteMs,
  month: 30 * 1440 * minuteMs,
} as const
type Span = keyof typeof spansMs
const spans = Object.keys(spansMs) as readonly Span[]

/** The last instant of which all spans are within the days that a date of JavaScript knows. */
const lastMs = 8.64e15 - spansMs.month

/** How much of what is shown lies before now, unless another time was asked for. */
const pastShare = 2 / 3
/** A browser has a largest canvas; a viewer has had enough before. */
const rowsMax = 200

interface Asked {
  readonly by: RowKind
  readonly span: Span
  /** Null to go on with the clock. */
  readonly fromMs: number | null
}

function askedFor(search: Search): Asked {
  const from = Number(search.get('from'))
  return {
    by: rowKinds.find((kind) => kind === search.get('by')) ?? 'job',
    span: spans.find((span) => span === search.get('span')) ?? 'hour',
    fromMs:
      search.get('from') === '' || !Number.isSafeInteger(from) || from < 0 || from > lastMs ? null : from,
  }
}

function windowAt({ span, fromMs }: Asked, now: number): TimelineWindow {
  const spanMs = spansMs[span]
  const first = fromMs ?? Math.floor(now - spanMs * pastShare)
  return { fromMs: first, toMs: first + spanMs }
}

export function TimelinePage(): JSX.Element {
  const text = words()
  const search = useSearch()
  const asked = askedFor(search)
  const group = search.get('group')
  // A minute goes by while one looks; in a month nothing is seen to move.
  const everyMs = Math.min(60_000, Math.max(5000, spansMs[asked.span] / 360))
  const loaded = useResource(
    (signal) => loadTimeline(windowAt(asked, nowMs()), group, signal),
    [asked.span, asked.fromMs, group],
    { isAffected: ({ event }) => everyMs <= 10_000 && /^job(ToBe|Was)Executed$/.test(event), everyMs },
  )
  const data = loaded.value.value
  const error = loaded.error.value
  const rows = useMemo(() => data && rowsOf(data, asked.by, text), [data, asked.by, text])
  const shown = windowAt(asked, tick.value)
  return (
    <>
      <PageHead
        title={text.title}
        below={`${fullInstantText(shown.fromMs)} – ${fullInstantText(shown.toMs)}`}
        actions={<Moves asked={asked} search={search} />}
      />
      <div class="toolbar">
        <ChoiceBox label={text.rows} field="by" choices={choices(rowKinds, text.by, 'job')} />
        <ChoiceBox label={text.span} field="span" choices={choices(spans, text.spans, 'hour')} />
        <SearchBox label={text.group} field="group" completes="jobGroups" />
      </div>
      {error !== null && <ProblemNote error={error} retry={loaded.reload} />}
      <section class="panel" aria-label={text.title} aria-busy={rows === null}>
        {rows !== null && data !== null && (
          <Fresh isOld={loaded.isOfOthers.value}>
            <Drawing rows={rows} data={data} shown={shown} by={asked.by} group={group} />
          </Fresh>
        )}
      </section>
    </>
  )
}

/** An empty field of the address stands for the usual choice. */
function choices<Value extends string>(
  values: readonly Value[],
  texts: Readonly<Record<Value, string>>,
  usual: Value,
): readonly { value: string; text: string }[] {
  return [usual, ...values.filter((value) => value !== usual)]
    .sort((one, other) => values.indexOf(one) - values.indexOf(other))
    .map((value) => ({ value: value === usual ? '' : value, text: texts[value] }))
}

function Moves({ asked, search }: { readonly asked: Asked; readonly search: Search }): JSX.Element {
  const text = words()
  const spanMs = spansMs[asked.span]
  const { fromMs } = windowAt(asked, nowMs())
  const moved = (byMs: number): string =>
    search.with({ from: String(Math.min(lastMs, Math.max(0, Math.floor(fromMs + byMs)))) })
  return (
    <>
      <a class="button plain" href={moved(-spanMs / 2)}>
        {text.earlier}
      </a>
      <a
        class="button plain"
        href={search.with({ from: '' })}
        aria-current={asked.fromMs === null ? 'true' : undefined}
      >
        {text.now}
      </a>
      <a class="button plain" href={moved(spanMs / 2)}>
        {text.later}
      </a>
    </>
  )
}

interface DrawingProps {
  readonly rows: readonly Row[]
  readonly data: Loaded
  readonly shown: TimelineWindow
  readonly by: RowKind
  readonly group: string
}

function Drawing({ rows, data, shown, by, group }: DrawingProps): JSX.Element {
  const text = words()
  const { knownFromMs, knownToMs } = data
  const drawn = useMemo(() => rows.slice(0, rowsMax), [rows])
  const now = tick.value
  const scene = useMemo(
    () => ({ rows: drawn, ...shown, nowMs: now, knownFromMs, knownToMs }),
    [drawn, shown.fromMs, shown.toMs, now, knownFromMs, knownToMs],
  )
  // They change with what is loaded, and not with each second.
  const names = useMemo(() => <RowNames rows={drawn} />, [drawn])
  const table = useMemo(() => <RowTable rows={drawn} by={by} />, [drawn, by, text])
  if (rows.length === 0) {
    return (
      <>
        {data.isGroupEmpty ? (
          <Empty title={text.emptyGroup(group)} hint={text.emptyGroupHint} />
        ) : (
          <Empty title={text.empty} hint={text.emptyHint} code={examples.rememberAll} />
        )}
        <LeftOut data={data} rows={0} now={now} />
      </>
    )
  }
  const bars = drawn.reduce((sum, row) => sum + row.bars.length, 0)
  return (
    <>
      <Legend />
      <div class="timeline">
        {names}
        <TimelineCanvas scene={scene} label={text.label(drawn.length, bars)} />
      </div>
      <LeftOut data={data} rows={rows.length - drawn.length} now={now} />
      <details class="timeline-table">
        <summary>{text.table}</summary>
        {table}
      </details>
    </>
  )
}

function RowNames({ rows }: { readonly rows: readonly Row[] }): JSX.Element {
  return (
    <ul class="timeline-names">
      {rows.map((row) => (
        <li key={row.id}>
          <RowName row={row} />
        </li>
      ))}
    </ul>
  )
}

const legend: readonly BarKind[] = [
  'succeeded',
  'failed',
  'interrupted',
  'vetoed',
  'running',
  'planned',
  'missed',
  'blocked',
  'overdue',
]

function Legend(): JSX.Element {
  return (
    <ul class="timeline-legend" aria-label={words().legend}>
      {legend.map((kind) => (
        <li key={kind}>
          <span class={`swatch is-${kind}`} style={{ '--ink': `var(${inks[kind]})` }} />
          {kindText(kind)}
        </li>
      ))}
    </ul>
  )
}

interface LeftOutProps {
  readonly data: Loaded
  readonly rows: number
  readonly now: number
}

/** What is not drawn is said, so that nothing is taken for nothing. */
function LeftOut({ data, rows, now }: LeftOutProps): JSX.Element | null {
  const text = words()
  const { knownFromMs, knownToMs, isOftenLeftOut, isMissedLeftOut, isDueLeftOut, isRunningKnown } = data
  const notes = [
    knownFromMs !== null && text.olderLeftOut(instantText(knownFromMs, now)),
    knownToMs !== null && text.laterLeftOut(instantText(knownToMs, now)),
    isOftenLeftOut && text.oftenLeftOut,
    isMissedLeftOut && text.missedLeftOut,
    isDueLeftOut && text.dueLeftOut,
    !isRunningKnown && text.runningLeftOut,
    rows > 0 && text.rowsLeftOut(rows),
  ].filter((note) => note !== false)
  if (notes.length === 0) return null
  return <p class="timeline-left-out">{notes.join(' ')}</p>
}
