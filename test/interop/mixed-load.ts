import { vi } from 'vitest'
import type { ClusterNode } from './cluster-node.ts'
import { type Expectation, type FireLine, fulfilled, readHistory } from './fire-history.ts'
import {
  exclusiveJobType,
  type PlannedJob,
  type PlannedSchedule,
  type PlannedTrigger,
  recordJobType,
} from './plans.ts'

export interface LoadResult extends Expectation {
  readonly lines: readonly FireLine[]
  /** Where each trigger comes from, by the text of its key. */
  readonly origins: ReadonlyMap<string, Origin>
}

export interface Origin {
  readonly type: PlannedSchedule['type']
  /** Instance id of the node that scheduled it. */
  readonly scheduledBy: string
  /** What its data say. */
  readonly note: string
}

interface Load {
  readonly trigger: PlannedTrigger
  readonly job: PlannedJob
}

const second = 1000
/** How long a trigger may be overdue before the load counts as stuck. */
const patienceMs = 40 * second
/** A load whose time is up counts as stuck earlier if nothing has run for so long. */
const silenceMs = 15 * second
/** How long each trigger fires at least, also where scheduling all of them takes long: longer than any interval. */
const shortestMs = 15 * second

/**
 * Schedules `count` triggers of all types, by turns on every node, half of them at once and half while they fire; then
 * waits until every planned instant has been run. What is still missing when the time is up, the judge will say.
 */
export async function mixedLoad(
  nodes: readonly ClusterNode[],
  history: string,
  { count, lastsMs }: { readonly count: number; readonly lastsMs: number },
): Promise<LoadResult> {
  const planned = new Map<string, readonly number[]>()
  const exclusiveJobs = new Set<string>()
  const origins = new Map<string, Origin>()
  let untilMs = Date.now() + lastsMs
  const scheduleOn = async (index: number): Promise<void> => {
    const startMs = Date.now() + 2 * second
    untilMs = Math.max(untilMs, startMs + shortestMs)
    const { trigger, job } = loadOf(index, startMs, untilMs)
    const node = nodes[index % nodes.length]
    if (node === undefined) throw new Error('There is no node to schedule on')
    const key = `${trigger.group}.${trigger.name}`
    if (job.type === exclusiveJobType) exclusiveJobs.add(`${job.group}.${job.name}`)
    const note = trigger.data?.['note'] ?? ''
    origins.set(key, { type: trigger.schedule.type, scheduledBy: node.instanceId, note })
    planned.set(key, await node.schedule(trigger, job, 1000))
  }
  const first = Math.floor(count / 2)
  await Promise.all(Array.from({ length: first }, (_, index) => scheduleOn(index)))
  for (let index = first; index < count; index++) await scheduleOn(index)

  const expectation: Expectation = { planned, exclusiveJobs }
  const total = [...planned.values()].reduce((sum, instants) => sum + instants.length, 0)
  let seen = { lines: 0, atMs: Date.now() }
  await vi
    .waitUntil(
      async () => {
        const lines = await readHistory(history)
        if (lines.length > seen.lines) seen = { lines: lines.length, atMs: Date.now() }
        const isSilent = Date.now() > Math.max(untilMs, seen.atMs) + silenceMs
        return isSilent || fulfilled(lines, expectation) === total
      },
      { timeout: untilMs + patienceMs - Date.now(), interval: 500 },
    )
    .catch(() => {})
  return { ...expectation, origins, lines: await readHistory(history) }
}

/** Every fifth job forbids concurrent runs and has one trigger; the others may run side by side. */
function loadOf(index: number, startMs: number, untilMs: number): Load {
  const name = `t${String(index).padStart(3, '0')}`
  const exclusive = index % 5 === 0
  const job: PlannedJob = {
    name,
    group: 'load',
    type: exclusive ? exclusiveJobType : recordJobType,
    durable: index % 7 === 0,
    data: { bodyMs: String(exclusive ? 600 : (index % 3) * 100), note: 'of the job' },
  }
  const trigger: PlannedTrigger = {
    name,
    group: `g${String(index % 10)}`,
    job,
    schedule: scheduleOf(index, startMs, untilMs),
    startMs,
    ...(index % 4 === 1 || index % 4 === 2 ? { endMs: untilMs } : {}),
    priority: 1 + (index % 9),
    data: { note: `${name}: é=ж #1 \\ 漢` },
  }
  return { trigger, job }
}

function scheduleOf(index: number, startMs: number, untilMs: number): PlannedSchedule {
  // Coprime with the number of types, so that each type gets every period.
  const interval = 4 + (index % 9)
  const repeatCount = Math.max(1, Math.floor((untilMs - startMs) / (interval * second)))
  switch (index % 4) {
    case 0:
      return { type: 'simple', repeatCount, intervalMs: interval * second - 250 }
    case 1:
      return { type: 'cron', expression: `${index % interval}/${interval} * * * * ?`, zone: 'Asia/Kolkata' }
    case 2: {
      const options = { zone: 'America/New_York', preserveHour: false, skipDay: false }
      return { type: 'calendarInterval', interval, unit: 'SECOND', ...options }
    }
    default: {
      const wholeDay = { from: 0, to: 86_399, days: '1,2,3,4,5,6,7' }
      return { type: 'dailyTimeInterval', interval, unit: 'SECOND', repeatCount, ...wholeDay }
    }
  }
}
