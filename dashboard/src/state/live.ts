import { LiveStream } from '../api/live.ts'
import { loadSession } from './session.ts'

/** The stream of this page. When the server refuses it, the session may be over; when it opens again, others may be. */
export const live = new LiveStream(() => {
  // A server that does not answer is tried again by the stream itself.
  loadSession().catch(() => undefined)
})
