import type { ActionJson } from '../../../src/server/wire/action.ts'
import { notThere } from '../api/client.ts'
import { ownChange } from '../api/live.ts'
import { isChanged, mayBeDone } from '../api/problem.ts'
import { pageOfNow } from '../state/place.ts'
import { say } from '../state/toasts.ts'
import { common } from '../words/common.ts'
import { act } from './action.ts'
import { confirm } from './dialog.tsx'

interface Save {
  /** What is saved, for people. */
  readonly name: string
  /** As it was read. */
  readonly version: string | null
  /** What is said when it is saved. */
  readonly done: string
  readonly put: (how: { readonly onlyAs: string | null; readonly dryRun: boolean }) => Promise<ActionJson>
}

/**
 * Saves what somebody has edited as it was read. When another one has changed it since, the viewer decides.
 *
 * @returns false when the viewer would rather not save.
 */
export async function saveAsRead({ name, version, done, put }: Save): Promise<boolean> {
  const isStillHere = pageOfNow()
  const save = (onlyAs: string | null): Promise<void> => act(put({ onlyAs, dryRun: false }), done)
  try {
    await save(version)
    return true
  } catch (error) {
    const isOther = isChanged(error)
    if (!isOther && !mayBeDone(error)) throw error
    // A save whose answer was lost is no change of another one: what is there is what was sent.
    if (await isStored(put)) {
      say.done(done)
      ownChange()
      return true
    }
    // What is there under the name of something new is another thing.
    if (!isOther || version === notThere) throw error
  }
  if (!isStillHere()) return false
  const { changedMeanwhile, saveAnyway } = common()
  if (!(await confirm({ title: name, body: changedMeanwhile, verb: saveAnyway, isDanger: true })))
    return false
  await save(null)
  return true
}

/** Whether a save would change nothing; false when that is not known. */
async function isStored(put: Save['put']): Promise<boolean> {
  try {
    return !(await put({ onlyAs: null, dryRun: true })).changed
  } catch {
    return false
  }
}
