import type { ActionJson } from '../../../src/server/wire/action.ts'
import { ownChange } from '../api/live.ts'
import { say } from '../state/toasts.ts'

/** Says what an action has done, and has the page load what it may have changed. */
export async function act<Result>(
  action: Promise<ActionJson<Result>>,
  done: string | ((result: Result) => string),
): Promise<void> {
  const { result } = await action
  say.done(typeof done === 'string' ? done : done(result))
  ownChange()
}
