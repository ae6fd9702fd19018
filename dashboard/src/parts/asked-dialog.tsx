import type { JSX } from 'preact'
import type { ActionJson, RunJson } from '../../../src/server/wire/action.ts'
import type { Data } from './data-editor.tsx'
import { type PauseChoice, PauseDialog, ResumeDialog } from './pause-dialog.tsx'
import { RunDialog } from './run-dialog.tsx'

/** What the person has asked for and not yet confirmed. */
export type Asked = 'run' | 'pause' | 'resume'

interface AskedDialogProps {
  readonly asked: Asked | null
  readonly onClose: () => void
  readonly what: string
  readonly run: (data: Data) => Promise<ActionJson<RunJson>>
  readonly pause: (choice: PauseChoice) => Promise<ActionJson>
  readonly resume: (choice: { readonly withoutMissed: boolean }) => Promise<ActionJson>
  /** What is said when it is done. */
  readonly paused: string
  readonly resumed: string
}

/** The dialog of what was asked for, of a job or of a trigger. */
export function AskedDialog({
  asked,
  onClose,
  what,
  run,
  pause,
  resume,
  paused,
  resumed,
}: AskedDialogProps): JSX.Element | null {
  const shared = { what, onClose }
  switch (asked) {
    case 'run':
      return <RunDialog {...shared} run={run} />
    case 'pause':
      return <PauseDialog {...shared} done={paused} pause={pause} />
    case 'resume':
      return <ResumeDialog {...shared} done={resumed} resume={resume} />
    case null:
      return null
  }
}
