import type { JSX } from 'preact'
import type { SchedulerJson } from '../../../../src/server/wire/runs.ts'
import { call } from '../../api/client.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

/** What can be done to the scheduler as a whole, and what each of it reaches. */
export function SchedulerActions({ scheduler }: { readonly scheduler: SchedulerJson }): JSX.Element {
  const text = words()
  const { oneNode, clusterWide } = common()
  const reach = scheduler.jobStoreClustered ? clusterWide : oneNode(scheduler.schedulerInstanceId)
  const ask = (title: string, body: string, reaches: string): Promise<boolean> =>
    confirm({
      title,
      verb: title,
      body: (
        <>
          <p>{body}</p>
          <p class="muted">{reaches}</p>
        </>
      ),
    })
  const pauseAll = async (): Promise<void> => {
    if (await ask(text.pauseAll, text.pauseAllAsk, reach))
      await act(call('scheduler.pauseAll'), text.pausedAll)
  }
  const resumeAll = async (): Promise<void> => {
    if (await ask(text.resumeAll, text.resumeAllAsk, reach))
      await act(call('scheduler.resumeAll'), text.resumedAll)
  }
  const standby = async (): Promise<void> => {
    const node = oneNode(scheduler.schedulerInstanceId)
    if (await ask(text.standbyVerb, text.standbyAsk, node))
      await act(call('scheduler.standby'), text.inStandby)
  }
  return (
    <>
      {may('scheduler.pauseAll') && <Button text={text.pauseAll} icon="pause" onPress={pauseAll} />}
      {may('scheduler.resumeAll') && <Button text={text.resumeAll} icon="play" onPress={resumeAll} />}
      {scheduler.status === 'started' && may('scheduler.standby') && (
        <Button text={text.standbyVerb} icon="stop" onPress={standby} />
      )}
      {scheduler.status === 'standby' && may('scheduler.start') && (
        <Button
          text={text.start}
          icon="play"
          kind="primary"
          onPress={() => act(call('scheduler.start'), text.started)}
        />
      )}
    </>
  )
}
