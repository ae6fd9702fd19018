import { computed, signal } from '@preact/signals'
import type { SessionJson } from '../../../src/server/operations/sessions.ts'
import { call, whenNotAllowed, whenSignedOut } from '../api/client.ts'
import type { OperationId } from '../api/operations.ts'
import { say } from './toasts.ts'

/** Null until the server has said who is asking. */
export const session = signal<SessionJson | null>(null)
/** Whether the session has ended that {@link session} is about: pages and what was typed stay until the next one. */
export const hasEnded = signal(false)

/** Why the last attempt to sign in was refused, for the login to show; null where there was none since. */
export const refusedSignIn = signal<unknown>(null)

const allowed = computed(() => new Set(session.value?.operations))

/** Whether the principal may call an operation, on something at least; the server decides each time. */
export function may(id: OperationId): boolean {
  return allowed.value.has(id)
}

function isKnown(): boolean {
  return (session.value?.principal ?? null) !== null
}

export async function loadSession(): Promise<void> {
  const answer = await call('session.get')
  const isOver = answer.principal === null && isKnown()
  if (!isOver) session.value = answer
  if (answer.principal !== null) refusedSignIn.value = null
  hasEnded.value = isOver
}

/** Tells other tabs of this browser, which have the same cookie, that somebody signed in or out. */
const tabs = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('quartz-ts.session')

export async function signIn(
  credentials: { token: string } | { name: string; password: string },
): Promise<void> {
  await call('session.begin', { body: credentials })
  tabs?.postMessage('changed')
  await loadSession()
}

export async function signOut(): Promise<void> {
  await call('session.end')
  tabs?.postMessage('changed')
  if (session.value !== null) session.value = { ...session.value, principal: null, operations: [] }
  await loadSession()
}

/**
 * Has a session that ended show the login, over the page, and follows what other tabs do, and a role that was changed
 * meanwhile.
 */
export function watchSession(): void {
  tabs?.addEventListener('message', () => {
    loadSession().catch(say.problem)
  })
  whenSignedOut(() => {
    if (isKnown()) hasEnded.value = true
  })
  whenNotAllowed((id) => {
    if (may(id)) loadSession().catch(say.problem)
  })
}
