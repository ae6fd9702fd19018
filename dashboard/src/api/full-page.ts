import { steadyMs } from '../time/clock.ts'
import { gatherRows, type PageOf } from './gather-rows.ts'

/** So long a page goes on by itself for rows of which there are few. */
const patienceMs = 3000

/** A page with as many rows as the viewer asked for, as far as they are found soon. */
export function fullPage<Item>(
  load: (after: string) => Promise<PageOf<Item>>,
  place: { readonly after: string; readonly take: number },
): Promise<PageOf<Item>> {
  const untilMs = steadyMs() + patienceMs
  return gatherRows(load, { ...place, isPatient: () => steadyMs() < untilMs })
}
