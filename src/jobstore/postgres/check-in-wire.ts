import type { ClientConfig } from 'pg'
import type { CheckIn, CheckInOrders, CheckInStatements } from '../sql/cluster/check-in.ts'

/** Options of a pg client that can be handed to a thread. */
export type ThreadConnection = Omit<ClientConfig, 'password' | 'stream' | 'types'> & {
  readonly password?: string
}

/** Check-in orders as a thread can have them: the database has the time, so the statements stay the same. */
export interface ThreadOrders extends Pick<CheckInOrders, 'bootId' | 'intervalMs'> {
  readonly statements: CheckInStatements
}

/** What a check-in thread starts with. */
export interface CheckInThreadData {
  readonly connection: ThreadConnection
  /** The password is a function of the user's, which the main thread calls. */
  readonly asksForPassword: boolean
  /** A server that does not answer for this long gets a new connection. */
  readonly answerWithinMs: number
  /** A main thread that says nothing for this long is not at work any more: no further check-ins until it does. */
  readonly deafAfterMs: number
  readonly orders: ThreadOrders
}

export type ToCheckInThread =
  | { readonly kind: 'order'; readonly orders: ThreadOrders }
  | { readonly kind: 'hurry' }
  /** A report was read. */
  | { readonly kind: 'heard' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'password'; readonly password: string | null; readonly error: string | null }

/** Times are `processElapsedMs`. */
export type FromCheckInThread =
  | ({ readonly kind: 'checkedIn' } & CheckIn)
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | null }
  | { readonly kind: 'password' }
