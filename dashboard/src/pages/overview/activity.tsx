import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ExecutionStatsJson } from '../../../../src/server/execution-stats.ts'
import { notSucceededFilter } from '../../api/outcomes.ts'
import { Chart, type ChartData } from '../../parts/chart.tsx'
import { Panel } from '../../parts/panel.tsx'
import { href } from '../../state/place.ts'
import { nowMs } from '../../time/clock.ts'
import { durationText, instantText, numberText, percentText } from '../../time/format.ts'
import { Tile } from './tiles.tsx'
import { words } from './words.ts'

/** How many minutes back it looks. */
export const shownMinutes = 60
const latelyMs = 300_000

/** From when it counts, where a busy scheduler had more in that time than the server looks at; null for all of it. */
function countedFrom({ fromMs, toMs }: ExecutionStatsJson): string | null {
  return toMs - fromMs < shownMinutes * 60_000 ? instantText(fromMs, nowMs()) : null
}

/** What the last hour was like, in numbers. */
export function ActivityTiles({ stats }: { readonly stats: ExecutionStatsJson | null }): JSX.Element {
  const { activity } = words()
  // Another node may keep more than this server's own store does.
  const succeeded = stats?.byOutcome.succeeded ?? 0
  const remembersAll = stats !== null && (stats.keepsSuccesses || succeeded > 0)
  const success = remembersAll && ended(stats) > 0 ? succeeded / ended(stats) : null
  const failed = stats === null ? null : ended(stats) - succeeded
  const from = stats && countedFrom(stats)
  const note = from === null ? activity.hour : activity.since(from)
  return (
    <div class="tiles">
      <Tile
        name={activity.perMinute}
        value={numberText(remembersAll ? perMinute(stats) : null, 1)}
        note={stats !== null && stats.toMs - stats.fromMs < latelyMs ? note : activity.lately}
      />
      <Tile name={activity.success} value={percentText(success)} note={note} />
      <Tile
        name={activity.failed}
        value={numberText(failed)}
        note={note}
        path={`/history?filter=${encodeURIComponent(notSucceededFilter)}&within=hour`}
        isBad={(failed ?? 0) > 0}
      />
      <Tile name={activity.p50} value={durationText(stats?.latenessMs?.p50)} note={note} />
      <Tile name={activity.p99} value={durationText(stats?.latenessMs?.p99)} note={note} />
    </div>
  )
}

/** A veto is no failure: the job was not meant to run. */
function ended({ count, byOutcome }: ExecutionStatsJson): number {
  return count - (byOutcome.vetoed ?? 0)
}

/** Of the last minutes, so that it follows what changes. */
function perMinute({ buckets, toMs }: ExecutionStatsJson): number {
  const last = buckets.filter(({ atMs }) => atMs >= toMs - latelyMs)
  const count = last.reduce((sum, { byOutcome }) => sum + sumOf(byOutcome), 0)
  const lengthMs = Math.max(1000, toMs - (last[0]?.atMs ?? toMs))
  return count / (lengthMs / 60_000)
}

function sumOf(counts: ExecutionStatsJson['byOutcome']): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

export function ActivityChart({ stats }: { readonly stats: ExecutionStatsJson | null }): JSX.Element {
  const { activity } = words()
  const data: ChartData | null = useMemo(() => stats && chartOf(stats, activity), [stats, activity])
  const from = stats && countedFrom(stats)
  return (
    <Panel
      title={from === null ? activity.title : activity.titleSince(from)}
      actions={<a href={href('/history')}>{activity.all}</a>}
    >
      {stats?.count === 0 ? (
        <p class="muted">{activity.none}</p>
      ) : (
        data !== null && <Chart data={data} label={activity.label(stats?.count ?? 0, from)} />
      )}
    </Panel>
  )
}

function chartOf({ buckets }: ExecutionStatsJson, activity: { success: string; failed: string }): ChartData {
  return {
    atMs: buckets.map(({ atMs }) => atMs),
    series: [
      {
        name: activity.failed,
        ink: '--bad-fill',
        values: buckets.map(({ byOutcome }) => sumOf(byOutcome) - (byOutcome.vetoed ?? 0)),
      },
      {
        name: activity.success,
        ink: '--good-fill',
        values: buckets.map(({ byOutcome }) => byOutcome.succeeded ?? 0),
      },
    ],
  }
}
