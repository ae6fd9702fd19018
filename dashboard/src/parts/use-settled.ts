import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { later } from '../time/clock.ts'

const typingMs = 300

/** A value that follows another one when that has not changed for a moment, as a server asks for. */
export function useSettled<Value>(value: Value, ms = typingMs): ReadonlySignal<Value> {
  const settled = useSignal(value)
  useEffect(
    () =>
      later(ms, () => {
        settled.value = value
      }),
    [JSON.stringify(value)],
  )
  return settled
}
