import type { JSX } from 'preact'
import { href } from '../../state/place.ts'
import { numberText, unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import type { Overview } from './overview.tsx'
import { words } from './words.ts'

interface TileProps {
  readonly name: string
  readonly value: string
  readonly note?: string
  readonly path?: string
  readonly isBad?: boolean
}

export function Tile({ name, value, note, path, isBad = false }: TileProps): JSX.Element {
  const content = (
    <>
      <span class="tile-name">{name}</span>
      <span class={isBad ? 'tile-value is-bad' : 'tile-value'}>{value}</span>
      {note !== undefined && <span class="tile-note">{note}</span>}
    </>
  )
  if (path === undefined) return <div class="tile">{content}</div>
  return (
    <a class="tile" href={href(path)}>
      {content}
    </a>
  )
}

/** The numbers at a glance; what is not known is a dash. */
export function Tiles({ overview }: { readonly overview: Overview | null }): JSX.Element {
  const { tiles, lastDay, nodesNote, of, sinceStart, noNode } = words()
  const { notSeen } = common()
  const misfires = overview?.misfires ?? null
  const nodes = overview?.nodes ?? null
  const isBlind = overview?.seesNodes === false
  const executed = overview?.scheduler.numberOfJobsExecuted
  const alive = nodes?.filter(({ state }) => state === 'alive').length
  const counts = overview?.triggers.counts ?? null
  const count = (state: 'PAUSED' | 'ERROR'): number | null =>
    counts === null ? null : (counts.byState[state] ?? 0)
  return (
    <div class="tiles">
      <Tile
        name={tiles.nodes}
        value={nodes === null ? unknownText : of(numberText(alive), numberText(nodes.length))}
        {...(overview !== null && {
          note: isBlind ? notSeen : nodesNote(overview.scheduler.schedulerInstanceId),
        })}
        isBad={nodes !== null && alive !== nodes.length}
      />
      <Tile
        name={tiles.running}
        value={isBlind ? unknownText : numberText(overview?.executing.length)}
        {...(isBlind && { note: notSeen })}
        path="/running"
      />
      <Tile name={tiles.triggers} value={numberText(counts?.triggers)} path="/triggers" />
      <Tile name={tiles.paused} value={numberText(count('PAUSED'))} path="/triggers?state=PAUSED" />
      <Tile
        name={tiles.errors}
        value={numberText(count('ERROR'))}
        path="/triggers?state=ERROR"
        isBad={(count('ERROR') ?? 0) > 0}
      />
      <Tile
        name={tiles.executed}
        value={numberText(executed)}
        // Null also for a viewer of some groups alone.
        {...(executed !== null && { note: sinceStart })}
        {...(overview?.scheduler.status === 'attached' && { note: noNode })}
        path="/history"
      />
      <Tile
        name={tiles.misfires}
        value={
          misfires === null ? unknownText : `${numberText(misfires.fires)}${misfires.hasMore ? '+' : ''}`
        }
        note={lastDay}
        path="/misfires"
      />
    </div>
  )
}
