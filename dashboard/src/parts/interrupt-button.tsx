import type { JSX } from 'preact'
import type { ExecutingJson } from '../../../src/server/wire/runs.ts'
import { call } from '../api/client.ts'
import { may } from '../state/session.ts'
import { common } from '../words/common.ts'
import { dictionary } from '../words/dictionary.ts'
import { act } from './action.ts'
import { Button } from './button.tsx'
import { confirm } from './dialog.tsx'
import { keyText } from './links.tsx'

const words = dictionary({
  en: {
    ask: (job: string) =>
      `${job} is asked to stop. A job that does not look at its signal goes on, or its thread is ended.`,
    done: (job: string) => `${job} was asked to stop.`,
  },
  zh: {
    ask: (job) => `将请求停止 ${job}。不检查信号的作业会继续，或其线程会被终止。`,
    done: (job) => `已请求停止 ${job}。`,
  },
})

interface InterruptButtonProps {
  readonly of: Pick<ExecutingJson, 'fireInstanceId' | 'jobKey'>
  readonly isSmall?: boolean
}

/** Asks one execution to stop, on whatever node it runs. */
export function InterruptButton({ of, isSmall = false }: InterruptButtonProps): JSX.Element | null {
  const text = words()
  const { interrupt } = common()
  if (!may('executing.interrupt')) return null
  const job = keyText(of.jobKey)
  const press = async (): Promise<void> => {
    if (!(await confirm({ title: interrupt, body: text.ask(job), verb: interrupt, isDanger: true }))) return
    await act(call('executing.interrupt', { params: { fireInstanceId: of.fireInstanceId } }), text.done(job))
  }
  if (!isSmall) return <Button text={interrupt} icon="stop" onPress={press} />
  return <Button text={`${interrupt}: ${job}`} icon="stop" kind="quiet" isSmall onPress={press} />
}
