import { signal } from '@preact/signals'
import { later } from '../time/clock.ts'
import { problemText } from '../words/problem-text.ts'

export interface Toast {
  readonly id: number
  readonly kind: 'done' | 'problem'
  readonly text: string
}

export const toasts = signal<readonly Toast[]>([])
const shownMs = { done: 5000, problem: 12_000 }
const shownMax = 4
let lastId = 0

function show(kind: Toast['kind'], text: string): void {
  const id = ++lastId
  toasts.value = [...toasts.value, { id, kind, text }].slice(-shownMax)
  later(shownMs[kind], () => {
    dismiss(id)
  })
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

export const say = {
  done: (text: string): void => {
    show('done', text)
  },
  problem: (error: unknown): void => {
    show('problem', problemText(error))
  },
}

/** For a promise that is not awaited: its failure is shown. */
export function unawaited(promise: Promise<unknown>): void {
  promise.catch(say.problem)
}
