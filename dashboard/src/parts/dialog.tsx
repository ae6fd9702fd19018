import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useCallback, useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { visibleName } from '../../../src/core/visible-text.ts'
import { session } from '../state/session.ts'
import { say } from '../state/toasts.ts'
import { common } from '../words/common.ts'
import { problemText } from '../words/problem-text.ts'
import { Button } from './button.tsx'
import { TextField } from './fields.tsx'
import { Icon } from './icon.tsx'
import { ProblemPlace, type TellProblem } from './problem-place.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
}

const fieldsOfDialog = ['input', 'textarea', 'select'].map((name) => `.dialog-body ${name}`).join(', ')

/** The browser's own dialog, which keeps the focus and closes by Escape. */
export function Dialog({ title, onClose, children, isWide = false }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null)
  const problem = useSignal<unknown>(null)
  const isGone = useIsGone()
  const tell = useCallback<TellProblem>((error) => {
    if (!isGone.current) problem.value = error
    else if (error !== null) say.problem(error)
  }, [])
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    const dialog = element.current
    dialog?.showModal()
    // Not the cross, which comes first: Enter would close it.
    const field = dialog?.querySelector<HTMLElement>(fieldsOfDialog)
    const button = dialog?.querySelector<HTMLElement>('.dialog-actions button')
    ;(field ?? button)?.focus()
    return () => {
      dialog?.close()
      giveFocus([opener, document.querySelector('main')])
    }
  }, [])
  return (
    <dialog ref={element} class={isWide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onClose={onClose}>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet small" aria-label={common().close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">
        {problem.value !== null && (
          <p class="note bad" role="alert">
            {problemText(problem.value)}
          </p>
        )}
        <ProblemPlace.Provider value={tell}>{children}</ProblemPlace.Provider>
      </div>
    </dialog>
  )
}

/** To the first that takes it, unless something has it: a dialog that was taken off the page gives it to nothing. */
export function giveFocus(elements: readonly (Element | null)[]): void {
  for (const element of elements) {
    if (document.activeElement !== document.body) return
    if (element instanceof HTMLElement) element.focus({ preventScroll: true })
  }
}

/** Whether the part that calls it is on the page no more: it may be closed while an action has no answer yet. */
function useIsGone(): { readonly current: boolean } {
  const isGone = useRef(false)
  useEffect(
    () => () => {
      isGone.current = true
    },
    [],
  )
  return isGone
}

/** Closes the dialog that calls it, and no other one that has come while an action of the first had no answer. */
export function useClose(onClose: () => void): () => void {
  const isGone = useIsGone()
  return () => {
    if (!isGone.current) onClose()
  }
}

export interface Question {
  readonly title: string
  readonly body: ComponentChildren
  /** The verb of the button. */
  readonly verb: string
  readonly isDanger?: boolean
  /** What has to be typed first, for what cannot be undone. */
  readonly typed?: string
}

interface Asked extends Question {
  readonly answer: (isYes: boolean) => void
}

const asked = signal<Asked | null>(null)

/** Asks before something is done; false when the viewer would rather not. */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false)
  return new Promise((resolve) => {
    const own: Asked = {
      ...question,
      answer: (isYes) => {
        // The dialog also says that it is closed when it was taken away after an answer.
        if (asked.value !== own) return
        asked.value = null
        resolve(isYes)
      },
    }
    asked.value = own
  })
}

/**
 * Where {@link confirm} asks. A question ends with its page, which may have been about another scheduler, and when
 * another person has signed in.
 */
export function ConfirmDialog(): JSX.Element | null {
  const { path } = useLocation()
  const who = session.value?.principal?.name
  useLayoutEffect(
    () => () => {
      asked.value?.answer(false)
    },
    [path, who],
  )
  const question = asked.value
  return question === null ? null : <ConfirmBody key={question.title} question={question} />
}

/** A field has no line breaks, and a page shows no spaces at the ends of a name and no more than one within. */
function asShown(name: string): string {
  const shown = visibleName(name)
  // Of spaces alone nothing would be left to type.
  return shown.trim() === '' ? shown : shown.trim().replace(/ +/g, ' ')
}

function ConfirmBody({ question }: { readonly question: Asked }): JSX.Element {
  const words = common()
  const typed = useSignal('')
  const { title, body, verb, isDanger = false, answer } = question
  const wanted = question.typed === undefined ? undefined : asShown(question.typed)
  const isReady = wanted === undefined || asShown(typed.value) === wanted
  return (
    <Dialog
      title={title}
      onClose={() => {
        answer(false)
      }}
    >
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) answer(true)
        }}
      >
        <div class="prose">{body}</div>
        {wanted !== undefined && (
          <TextField
            label={words.typeToConfirm(wanted)}
            value={typed.value}
            onChange={(value) => {
              typed.value = value
            }}
          />
        )}
        <div class="dialog-actions">
          <Button
            text={words.cancel}
            onPress={() => {
              answer(false)
            }}
          />
          <button type="submit" class={`button ${isDanger ? 'danger' : 'primary'}`} disabled={!isReady}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
