import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { later } from '../time/clock.ts'

const typingMs = 300

interface Settled<Value> {
  readonly value: Value
  /** Whether the other one has changed since. */
  readonly isBehind: boolean
}

/** A value that follows another one when that has not changed for a moment, as a server asks for. */
export function useSettled<Value>(value: Value, ms = typingMs): Settled<Value> {
  const settled = useSignal(value)
  const text = JSON.stringify(value)
  useEffect(
    () =>
      later(ms, () => {
        settled.value = value
      }),
    [text],
  )
  return { value: settled.value, isBehind: JSON.stringify(settled.value) !== text }
}
