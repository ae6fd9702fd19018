import type { JSX } from 'preact'
import type { ExecutionOutcome } from '../../../src/jobstore/queries.ts'
import type { TriggerState } from '../../../src/jobstore/trigger-state.ts'
import { common } from '../words/common.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet'

export function Badge({ tone, text }: { readonly tone: Tone; readonly text: string }): JSX.Element {
  return <span class={`badge ${tone}`}>{text}</span>
}

const stateTones: Readonly<Record<TriggerState, Tone>> = {
  NONE: 'quiet',
  NORMAL: 'good',
  PAUSED: 'warn',
  COMPLETE: 'quiet',
  ERROR: 'bad',
  BLOCKED: 'info',
}

interface StateBadgeProps {
  readonly state: TriggerState
  /** Whether it waits, and should have fired. Default false. */
  readonly isOverdue?: boolean
  /** Whether the server knows its kind: its nodes cannot fire one that they do not know. Default true. */
  readonly isKnown?: boolean
}

export function StateBadge({ state, isOverdue = false, isKnown = true }: StateBadgeProps): JSX.Element {
  if (isOverdue) return <Badge tone="bad" text={common().overdue} />
  if (!isKnown && state === 'NORMAL') return <Badge tone="warn" text={common().unreadableHere} />
  return <Badge tone={stateTones[state]} text={common().states[state]} />
}

const outcomeTones: Readonly<Record<ExecutionOutcome, Tone>> = {
  succeeded: 'good',
  failed: 'bad',
  vetoed: 'quiet',
  interrupted: 'warn',
  timedOut: 'bad',
  lost: 'bad',
}

export function OutcomeBadge({ outcome }: { readonly outcome: ExecutionOutcome }): JSX.Element {
  return <Badge tone={outcomeTones[outcome]} text={common().outcomes[outcome]} />
}
