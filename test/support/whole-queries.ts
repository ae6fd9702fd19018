import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'

// Queries with every condition that they may have, or with those that an index serves.

export const beginning = GroupMatcher.groupStartsWith('g')
const key = { name: 'n', group: 'g' }
export const indexedExecutionQuery = {
  jobKey: new JobKey(key.name, key.group),
  triggerKey: new TriggerKey(key.name, key.group),
  from: new Date(0),
  to: new Date(1),
  after: { fireTimeMs: 0, fireInstanceId: 'a' },
} as const
export const wholeExecutionQuery = {
  ...indexedExecutionQuery,
  jobGroup: 'g',
  node: 'a',
  outcome: 'failed',
  laterThanMs: 1,
  tookLongerThanMs: 1,
  errorContains: 'a',
  data: { key: 'a', value: 'b' },
  manual: true,
} as const
export const indexedAuditQuery = {
  from: new Date(0),
  to: new Date(1),
  after: { timeMs: 0, id: 'a' },
} as const
export const wholeAuditQuery = {
  ...indexedAuditQuery,
  by: 'a',
  operation: 'a',
  targetGroup: 'a',
  targetName: 'a',
  outcome: 'done',
  node: 'a',
} as const
export const wholeMisfireQuery = {
  triggerKey: indexedExecutionQuery.triggerKey,
  jobKey: indexedExecutionQuery.jobKey,
  jobGroup: 'g',
  cause: 'late',
  from: indexedExecutionQuery.from,
  to: indexedExecutionQuery.to,
  after: { noticedTimeMs: 1, id: 'a' },
} as const
export const wholeJobQuery = { group: beginning, jobGroups: ['a'], jobType: 'a', search: 'a' }
export const wholeTriggerQuery = {
  ...wholeJobQuery,
  name: 'a',
  jobKey: wholeExecutionQuery.jobKey,
  calendarName: 'a',
  dueBefore: new Date(0),
}
