import type { ActionJson } from '../../../src/server/wire/action.ts'
import { resync } from '../api/live.ts'
import { say } from '../state/toasts.ts'

/** Says what an action has done, and has the page load what it may have changed. */
export async function act(action: Promise<ActionJson>, done: string): Promise<void> {
  await action
  say.done(done)
  resync()
}
