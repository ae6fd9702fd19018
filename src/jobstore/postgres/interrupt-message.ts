import { JobKey } from '../../core/key.ts'
import type { InterruptTarget } from '../cluster-view.ts'

/** Sent on the channel of wake-ups: nodes of older versions ignore it. */
export function writeInterruptMessage(target: InterruptTarget): string {
  if (!('jobKey' in target)) return JSON.stringify({ interrupt: { fireInstanceId: target.fireInstanceId } })
  const { name, group } = target.jobKey
  return JSON.stringify({ interrupt: { name, group } })
}

/** Null for any other message on the channel. */
export function readInterruptMessage(payload: string | undefined): InterruptTarget | null {
  try {
    const value: unknown = JSON.parse(payload ?? '')
    if (typeof value !== 'object' || value === null || !('interrupt' in value)) return null
    const { fireInstanceId, name, group } = value.interrupt as Partial<Record<string, unknown>>
    if (typeof fireInstanceId === 'string') return { fireInstanceId }
    return typeof name === 'string' && typeof group === 'string' ? { jobKey: new JobKey(name, group) } : null
  } catch {
    return null
  }
}
