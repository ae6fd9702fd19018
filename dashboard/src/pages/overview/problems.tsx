import type { JSX } from 'preact'
import { visibleName } from '../../../../src/core/visible-text.ts'
import { call } from '../../api/client.ts'
import { failuresFilter } from '../../api/outcomes.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { keyId, keyText } from '../../parts/links.tsx'
import { isOverdue } from '../../parts/overdue.ts'
import { Panel } from '../../parts/panel.tsx'
import { href, jobPath } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import type { Overview } from './overview.tsx'
import { words as unreadyWords } from './unready-words.ts'
import { words } from './words.ts'

export interface Problem {
  readonly id: string
  readonly isBad: boolean
  readonly text: string
  /** What to do about it. */
  readonly remedy: string
  /** A page where it can be mended. */
  readonly path?: string
  readonly canStart?: boolean
  /** How many things it stands for. Default one. */
  readonly count?: number
}

/** So many jobs that fail are listed one by one. */
const failingShown = 5

/** How many things need a look; the last of them may stand for more than anybody has counted. */
export function countOf(problems: readonly Problem[]): number {
  return problems.reduce((sum, { count = 1 }) => sum + count, 0)
}

/** What needs a look, the worst first. */
export function problemsOf(overview: Overview): readonly Problem[] {
  const { scheduler, triggers, nodes, groups } = overview
  const text = words()
  const problems: Problem[] = [...failingOf(overview)]
  for (const { instanceId, state } of nodes ?? []) {
    if (state === 'alive') continue
    const isBad = state === 'failed'
    problems.push({
      id: `node ${instanceId}`,
      isBad,
      text: isBad ? text.nodeFailed(instanceId) : text.nodeOverdue(instanceId),
      remedy: isBad ? text.nodeFailedRemedy : text.nodeOverdueRemedy,
    })
  }
  if (scheduler.status === 'standby') {
    problems.push({
      id: 'standby',
      isBad: false,
      text: text.standby,
      remedy: text.standbyRemedy,
      canStart: may('scheduler.start'),
    })
  }
  problems.push(...unreadyOf(overview), ...idleOf(overview))
  const { inError, isMoreInError } = triggers
  if (inError > 0) {
    problems.push({
      id: 'error',
      isBad: true,
      text: text.inError(inError, isMoreInError),
      remedy: text.inErrorRemedy,
      path: '/triggers?state=ERROR',
    })
  }
  for (const group of [...(groups?.jobGroups ?? []), ...(groups?.triggerGroups ?? [])]) {
    if (!group.isPaused || !group.isEmpty) continue
    problems.push({
      id: `group ${group.name}`,
      isBad: false,
      text: text.groupPaused(visibleName(group.name)),
      remedy: text.groupPausedRemedy,
    })
  }
  return problems.sort((a, b) => Number(b.isBad) - Number(a.isBad))
}

/** Why the node that answers is not ready; that it stands by is said anyway. */
function unreadyOf({ scheduler }: Overview): readonly Problem[] {
  const { codes } = unreadyWords()
  return scheduler.notReady.flatMap((code) => {
    const said = codes[code]
    return said === undefined ? [] : [{ id: `not ready ${code}`, isBad: code !== 'stopping', ...said }]
  })
}

/** Why nothing fires, though nothing has failed. */
function idleOf(overview: Overview): readonly Problem[] {
  const { scheduler, triggers, nodes } = overview
  const text = words()
  const problems: Problem[] = []
  const { next, countedMs, isAllPaused, isMoreWaiting } = triggers
  const overdue = next.filter((trigger) => isOverdue(trigger, countedMs))
  if (overdue.length > 0) {
    // The server shows the first of many.
    const isMore = overdue.length === next.length && isMoreWaiting
    problems.push({
      id: 'overdue',
      isBad: true,
      text: text.overdue(overdue.length, isMore),
      remedy: text.overdueRemedy,
      path: '/triggers?state=OVERDUE',
    })
  }
  if (isAllPaused) {
    problems.push({ id: 'all paused', isBad: false, text: text.allPaused, remedy: text.allPausedRemedy })
  }
  const fires = nodes?.some(({ state, status }) => state === 'alive' && (status ?? 'started') === 'started')
  if (fires === false && scheduler.status !== 'standby') {
    problems.push({ id: 'no node', isBad: true, text: text.noneFires, remedy: text.noneFiresRemedy })
  }
  return problems
}

/** The jobs that fail, those that have failed most often first, and one more problem for all the others. */
function failingOf({ failing, isMoreFailing }: Overview): readonly Problem[] {
  const text = words()
  const shown = failing.slice(0, failingShown).map(({ jobKey, consecutiveFailures, lastErrorText }) => ({
    id: `job ${keyId(jobKey)}`,
    isBad: true,
    text: text.failing(keyText(jobKey), consecutiveFailures),
    remedy: lastErrorText?.split('\n', 1)[0]?.slice(0, 300) ?? text.failingRemedy,
    path: jobPath(jobKey),
  }))
  const count = failing.length - shown.length
  if (count === 0) return shown
  const others = {
    id: 'other jobs',
    isBad: true,
    text: text.othersFailing(isMoreFailing ? `${count}+` : String(count)),
    remedy: text.othersFailingRemedy,
    ...(may('executions.list') && { path: `/history?filter=${encodeURIComponent(failuresFilter)}` }),
    count,
  }
  return [...shown, others]
}

export function Problems({ problems }: { readonly problems: readonly Problem[] }): JSX.Element {
  const text = words()
  return (
    <Panel title={text.problems} isFlush>
      <ul class="problems">
        {problems.map(({ id, isBad, text: what, remedy, path, canStart }) => (
          <li key={id} class={isBad ? 'is-bad' : 'is-warn'}>
            <div>
              <strong>{what}</strong>
              <p class="muted">{remedy}</p>
            </div>
            {path !== undefined && (
              <a class="button plain" href={href(path)}>
                {text.show}
              </a>
            )}
            {canStart === true && (
              <Button
                text={text.start}
                icon="play"
                onPress={() => act(call('scheduler.start'), text.started)}
              />
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
