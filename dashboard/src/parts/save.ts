import { notThere } from '../api/client.ts'
import { isChanged } from '../api/problem.ts'
import { pageOfNow } from '../state/place.ts'
import { common } from '../words/common.ts'
import { confirm } from './dialog.tsx'

/**
 * Saves what somebody has edited as it was read. When another one has changed it since, the viewer decides.
 *
 * @returns false when the viewer would rather not save.
 */
export async function saveAsRead(
  what: string,
  version: string | null,
  save: (onlyAs: string | null) => Promise<void>,
): Promise<boolean> {
  const isStillHere = pageOfNow()
  try {
    await save(version)
    return true
  } catch (error) {
    // What is there under the name of something new is another thing.
    if (!isChanged(error) || version === notThere) throw error
  }
  if (!isStillHere()) return false
  const { changedMeanwhile, saveAnyway } = common()
  if (!(await confirm({ title: what, body: changedMeanwhile, verb: saveAnyway, isDanger: true })))
    return false
  await save(null)
  return true
}
