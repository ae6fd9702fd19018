import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { ActionJson, RunJson } from '../../../src/server/wire/action.ts'
import { common } from '../words/common.ts'
import { dictionary } from '../words/dictionary.ts'
import { act } from './action.ts'
import { Button } from './button.tsx'
import { type Data, DataEditor, readData } from './data-editor.tsx'
import { Dialog, useClose } from './dialog.tsx'
import { keyText } from './links.tsx'

const words = dictionary({
  en: {
    title: (what: string) => `Run ${what} now`,
    hint: 'What stands here goes over the stored data, for this run alone.',
    done: (what: string) => `${what} was started.`,
    paused: (what: string, trigger: string) =>
      `${what} waits: its group, the trigger group DEFAULT or everything is paused. ` +
      `Resume that, or ${trigger} alone.`,
  },
  zh: {
    title: (what) => `立即运行 ${what}`,
    hint: '此处的内容仅在本次运行中覆盖已存储的数据。',
    done: (what) => `${what} 已启动。`,
    paused: (what, trigger) =>
      `${what} 正在等待：其作业组、触发器组 DEFAULT 或全部已暂停。请恢复它们，或仅恢复 ${trigger}。`,
  },
})

/** Says that something runs, or that it waits. */
export function saidOfRun(what: string): (result: RunJson) => string {
  const { done, paused } = words()
  return (result) =>
    result.paused && result.triggerKey !== null ? paused(what, keyText(result.triggerKey)) : done(what)
}

interface RunDialogProps {
  readonly what: string
  readonly run: (data: Data) => Promise<ActionJson<RunJson>>
  readonly onClose: () => void
}

/** Runs something once, with other data when that is wished. */
export function RunDialog({ what, run, onClose }: RunDialogProps): JSX.Element {
  const text = useSignal('{}')
  const { title, hint } = words()
  const { cancel, data: label, run: verb } = common()
  const read = readData(text.value)
  const close = useClose(onClose)
  const start = async (): Promise<void> => {
    if (read.data === null) return
    await act(run(read.data), saidOfRun(what))
    close()
  }
  return (
    <Dialog title={title(what)} onClose={onClose}>
      <div class="form">
        <DataEditor label={label} text={text} hint={hint} />
        <div class="dialog-actions">
          <Button text={cancel} onPress={onClose} />
          <Button text={verb} icon="play" kind="primary" isDisabled={read.data === null} onPress={start} />
        </div>
      </div>
    </Dialog>
  )
}
