import type { IdGenerator } from '../core/ids.ts'
import { defaultGroup, TriggerKey } from '../core/key.ts'

/** What the names of triggers begin with that `triggerJob` makes, as in Java Quartz. */
const namePrefix = 'MT_'

export function manualTriggerKey(ids: IdGenerator): TriggerKey {
  return new TriggerKey(`${namePrefix}${ids.uniqueName()}`)
}

/** Whether `triggerJob` made the trigger, here or on a Java node. */
export function isManualTriggerKey({ group, name }: TriggerKey): boolean {
  return group === defaultGroup && name.startsWith(namePrefix)
}
