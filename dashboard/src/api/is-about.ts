import type { LiveEventJson } from '../../../src/server/live/live-events.ts'
import type { KeyJson } from '../../../src/server/wire/fields.ts'

export function isSameKey(one: KeyJson, other: KeyJson): boolean {
  return one.group === other.group && one.name === other.name
}

/** Whether an event may change what a page says of a job, and of its triggers. */
export function isAboutJob({ event, jobKey }: LiveEventJson, key: KeyJson): boolean {
  return event !== 'jobProgress' && (jobKey === undefined || isSameKey(jobKey, key))
}

/** Whether it may change what a page says of a trigger. What others do to its job it sees when it asks by itself. */
export function isAboutTrigger({ event, triggerKey }: LiveEventJson, key: KeyJson): boolean {
  return event !== 'jobProgress' && (triggerKey === undefined || isSameKey(triggerKey, key))
}
