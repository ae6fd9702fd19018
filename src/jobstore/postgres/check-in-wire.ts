import type { ClientConfig } from 'pg'
import type { CheckIn, CheckInOrders, CheckInStatements } from '../sql/cluster/check-in.ts'
import type { WitnessLook, WitnessOrders } from '../sql/cluster/witness.ts'
import type { ErrorFields } from './error-fields.ts'

/** Options of a pg client that can be cloned into a thread. */
export type ThreadConnection = Omit<ClientConfig, 'password' | 'stream' | 'types'> & {
  readonly password?: string
}

/** The check-in as a thread runs it. Its statements take the time from the database, so they do not change. */
export interface ThreadOrders extends Pick<CheckInOrders, 'bootId' | 'intervalMs'> {
  readonly statements: CheckInStatements
  readonly witness: WitnessOrders | null
}

/** The worker data of a check-in thread. */
export interface CheckInThreadData {
  readonly connection: ThreadConnection
  /** The password is a function of the user, which the main thread calls. */
  readonly asksForPassword: boolean
  /** When the server does not answer for this long, the thread makes a new connection. */
  readonly answerWithinMs: number
  /**
   * When the main thread sends nothing for this long, it counts as dead: the thread makes no further check-in until it
   * does.
   */
  readonly deafAfterMs: number
  readonly orders: ThreadOrders
  /**
   * When the session that holds the witness answered last: `processElapsedMs` in microseconds, of 64 bits. In memory
   * that both threads share, so that an idle main thread sleeps on.
   */
  readonly proof: SharedArrayBuffer
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
  /** In the session that holds the witness. */
  | ({ readonly kind: 'looked' } & WitnessLook)
  /** The session that held the witness has ended. */
  | { readonly kind: 'witnessLost' }
  | { readonly kind: 'failed'; readonly message: string; readonly fields: ErrorFields }
  | { readonly kind: 'password' }
