import { computed, signal } from '@preact/signals'
import type { SessionJson } from '../../../src/server/operations/sessions.ts'
import { call, whenSignedOut } from '../api/client.ts'
import type { OperationId } from '../api/operations.ts'
import { serverSaysNow } from '../time/clock.ts'

/** Null until the server has said who is asking. */
export const session = signal<SessionJson | null>(null)
/** Whether somebody was there before: then the session has ended, and did not fail to begin. */
export const hasEnded = signal(false)

export const isSignedIn = computed(() => (session.value?.principal ?? null) !== null)

const allowed = computed(() => new Set(session.value?.operations))

/** Whether the principal may call an operation, on something at least; the server decides each time. */
export function may(id: OperationId): boolean {
  return allowed.value.has(id)
}

export async function loadSession(): Promise<void> {
  const answer = await call('session.get')
  serverSaysNow(answer.nowMs)
  session.value = answer
}

export async function signIn(
  credentials: { token: string } | { name: string; password: string },
): Promise<void> {
  await call('session.begin', { body: credentials })
  await loadSession()
  hasEnded.value = false
}

export async function signOut(): Promise<void> {
  await call('session.end')
  await loadSession()
}

/** Has a session that ended show the login, at the address where the page was. */
export function watchSession(): void {
  whenSignedOut(() => {
    const known = session.value
    if (known === null || known.principal === null) return
    hasEnded.value = true
    session.value = { ...known, principal: null, operations: [] }
  })
}
