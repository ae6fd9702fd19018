import { expect, onTestFinished } from 'vitest'
import {
  type AlertChannel,
  type AlertNotice,
  type AlertRule,
  type AlertsPlugin,
  alertsPlugin,
} from '../../src/alerts.ts'
import {
  createScheduler,
  type Scheduler,
  type SchedulerOptions,
  type SchedulerPlugin,
} from '../../src/index.ts'
import type { JobStoreNotes } from '../../src/jobs/job-store-notes.ts'
import type { ManualClock } from '../../src/testing.ts'
import { jobOf, type ShellRig, shellRig } from '../support/shell-rig.ts'

export interface Recorded extends AlertChannel {
  readonly notices: AlertNotice[]
}

export function recorded(name = 'recorded'): Recorded {
  const notices: AlertNotice[] = []
  return {
    name,
    notices,
    async send(notice) {
      notices.push(notice)
    },
  }
}

export const kindsOf = ({ notices }: Recorded): string[] => notices.map(({ kind, text }) => `${kind} ${text}`)

/** A rule that finds what a test wants. */
export function flag(name = 'flag'): { readonly rule: AlertRule; found: string[] } {
  const state = {
    found: [] as string[],
    rule: {
      name,
      description: 'What the test says.',
      check: async () => state.found.map((subject) => ({ subject, message: `${subject} is bad` })),
    },
  }
  return state
}

export async function rigWith(
  rules: readonly AlertRule[],
  channels: readonly AlertChannel[],
  options: object = {},
  schedulerOptions: Omit<SchedulerOptions, 'clock'> = {},
): Promise<ShellRig & { readonly alerts: AlertsPlugin }> {
  const alerts = alertsPlugin({ rules, channels, checkMs: 1000, ...options })
  const rig = await shellRig([jobOf(() => {})], { plugins: [alerts], ...schedulerOptions })
  onTestFinished(() => rig.scheduler.shutdown())
  // The first check is over.
  await rig.clock.advance(0)
  return { ...rig, alerts }
}

/** A rule that is raised by the test. */
export function watched(name: string): { readonly rule: AlertRule; raise: (subject: string) => void } {
  const state = {
    raise: (subject: string): void => expect.fail(`no node watches ${subject}`),
    rule: {
      name,
      description: 'What the test raises.',
      quietMs: 86_400_000,
      watch: (_watch: object, raise: (finding: { subject: string; message: string }) => void) => {
        state.raise = (subject) => {
          raise({ subject, message: `${subject} is bad` })
        }
        return () => {}
      },
    },
  }
  return state
}

/** A node of a cluster whose nodes share notes. */
export async function startNode(
  instanceId: string,
  { clock, notes }: { readonly clock: ManualClock; readonly notes: JobStoreNotes },
  options: { readonly rules: AlertRule[]; readonly channels: AlertChannel[]; readonly attempts?: number },
): Promise<Scheduler> {
  const alerts = alertsPlugin({ checkMs: 1000, ...options })
  const plugin: SchedulerPlugin = {
    name: 'alerts',
    initialize: (scheduler, context) => alerts.initialize(scheduler, { ...context, notes }),
    start: () => alerts.start?.(),
    shutdown: () => alerts.shutdown?.(),
  }
  const scheduler = await createScheduler({ clock, instanceId, logger: false, plugins: [plugin] })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  await clock.advance(0)
  return scheduler
}
