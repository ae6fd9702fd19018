import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import { call } from '../../api/client.ts'
import { keyText } from '../../parts/links.tsx'
import { RunDialog } from '../../parts/run-dialog.tsx'

interface RunJobDialogProps {
  /** The job that somebody wants to run; null when nobody does. */
  readonly asked: Signal<KeyJson | null>
}

/** Asks before a job is run once. It is drawn beside a list, whose row may go while somebody types. */
export function RunJobDialog({ asked }: RunJobDialogProps): JSX.Element | null {
  const key = asked.value
  if (key === null) return null
  return (
    <RunDialog
      what={keyText(key)}
      run={(jobDataMap) => call('jobs.run', { params: key, body: { jobDataMap } })}
      onClose={() => {
        asked.value = null
      }}
    />
  )
}
