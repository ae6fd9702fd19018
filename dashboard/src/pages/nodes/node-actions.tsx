import type { JSX } from 'preact'
import type { SchedulerNode } from '../../../../src/jobstore/cluster-view.ts'
import type { SchedulerJson } from '../../../../src/server/wire/runs.ts'
import { call } from '../../api/client.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

interface NodeActionsProps {
  readonly node: SchedulerNode
  /** Null while it is not known. */
  readonly scheduler: SchedulerJson | null
}

/** What can be done with a node: one that has missed check-ins is removed, the others are steered. */
export function NodeActions({ node, scheduler }: NodeActionsProps): JSX.Element | null {
  const text = words()
  const { instanceId, isSelf, state, status, version } = node
  const params = { instanceId }
  const steer = (verb: 'start' | 'standby' | 'drain', done: string): Promise<void> =>
    act(call(`nodes.${verb}`, { params }), ({ confirmed }) => (confirmed ? done : text.asked(instanceId)))
  const ask = (verb: string, question: string, isDanger: boolean): Promise<boolean> =>
    confirm({
      title: verb,
      verb,
      isDanger,
      body: (
        <>
          <p>{question}</p>
          <p class="muted">{common().oneNode(instanceId)}</p>
        </>
      ),
    })
  const standby = async (): Promise<void> => {
    if (await ask(text.standby, text.standbyAsk, false)) await steer('standby', text.inStandby)
  }
  const drain = async (): Promise<void> => {
    if (await ask(text.drain, text.drainAsk, false)) await steer('drain', text.drains)
  }
  const remove = async (): Promise<void> => {
    const isSure = await ask(text.remove, text.removeAsk, true)
    if (isSure) await act(call('nodes.remove', { params }), text.removed(instanceId))
  }
  if (isSelf && scheduler?.status === 'attached') return null
  if (state !== 'alive')
    return may('nodes.remove') ? (
      <div class="row-actions">
        <Button text={`${text.remove}: ${instanceId}`} icon="remove" kind="quiet" isSmall onPress={remove} />
      </div>
    ) : null
  // A node of Java hears nothing.
  if (version === null) return null
  const fires = status === 'started' || status === null
  return (
    <div class="row-actions">
      {fires && may('nodes.standby') && (
        <Button text={`${text.standby}: ${instanceId}`} icon="pause" kind="quiet" isSmall onPress={standby} />
      )}
      {status !== 'draining' && may('nodes.drain') && (
        <Button text={`${text.drain}: ${instanceId}`} icon="stop" kind="quiet" isSmall onPress={drain} />
      )}
      {!fires && may('nodes.start') && (
        <Button
          text={`${text.start}: ${instanceId}`}
          icon="play"
          kind="quiet"
          isSmall
          onPress={() => steer('start', text.started)}
        />
      )}
    </div>
  )
}
