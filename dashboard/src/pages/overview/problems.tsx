import type { JSX } from 'preact'
import { call } from '../../api/client.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { keyText } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { href, jobPath } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import type { Overview } from './overview.tsx'
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
}

/** What needs a look, the worst first. */
export function problemsOf(overview: Overview): readonly Problem[] {
  const { scheduler, triggers, nodes, groups, failing } = overview
  const text = words()
  const problems: Problem[] = []
  for (const { jobKey, consecutiveFailures, lastErrorText } of failing) {
    problems.push({
      id: `job ${keyText(jobKey)}`,
      isBad: true,
      text: text.failing(keyText(jobKey), consecutiveFailures),
      remedy: lastErrorText?.split('\n', 1)[0]?.slice(0, 300) ?? text.failingRemedy,
      path: jobPath(jobKey),
    })
  }
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
  const inError = triggers?.byState.ERROR ?? 0
  if (inError > 0) {
    problems.push({
      id: 'error',
      isBad: true,
      text: text.inError(inError),
      remedy: text.inErrorRemedy,
      path: '/triggers?state=ERROR',
    })
  }
  for (const group of [...(groups?.jobGroups ?? []), ...(groups?.triggerGroups ?? [])]) {
    if (!group.isPaused || !group.isEmpty) continue
    problems.push({
      id: `group ${group.name}`,
      isBad: false,
      text: text.groupPaused(group.name),
      remedy: text.groupPausedRemedy,
    })
  }
  return problems.sort((a, b) => Number(b.isBad) - Number(a.isBad))
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
