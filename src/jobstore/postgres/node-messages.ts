import { JobKey } from '../../core/key.ts'
import type { InterruptTarget, NodeOrder } from '../cluster-view.ts'

// Sent on the channel of wake-ups: nodes of older versions ignore them.

/** An order to one node. */
export interface NodeOrderMessage {
  readonly instanceId: string
  readonly order: NodeOrder
}

export function writeInterruptMessage(target: InterruptTarget): string {
  if (!('jobKey' in target)) return JSON.stringify({ interrupt: { fireInstanceId: target.fireInstanceId } })
  const { name, group } = target.jobKey
  return JSON.stringify({ interrupt: { name, group } })
}

/** Null for any other message on the channel. */
export function readInterruptMessage(payload: string | undefined): InterruptTarget | null {
  const value = fieldOf(payload, 'interrupt')
  if (value === null) return null
  const { fireInstanceId, name, group } = value
  if (typeof fireInstanceId === 'string') return { fireInstanceId }
  return typeof name === 'string' && typeof group === 'string' ? { jobKey: new JobKey(name, group) } : null
}

export function writeOrderMessage({ instanceId, order }: NodeOrderMessage): string {
  return JSON.stringify({ node: { instanceId, order } })
}

const orders: readonly NodeOrder[] = ['start', 'standby', 'drain']

/** Null for any other message on the channel. */
export function readOrderMessage(payload: string | undefined): NodeOrderMessage | null {
  const value = fieldOf(payload, 'node')
  const order = orders.find((known) => known === value?.['order'])
  const instanceId = value?.['instanceId']
  return typeof instanceId === 'string' && order !== undefined ? { instanceId, order } : null
}

function fieldOf(payload: string | undefined, field: string): Partial<Record<string, unknown>> | null {
  try {
    const message: unknown = JSON.parse(payload ?? '')
    if (typeof message !== 'object' || message === null) return null
    const value: unknown = Reflect.get(message, field)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
