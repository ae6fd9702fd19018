import { onTestFinished } from 'vitest'
import {
  type AlertChannel,
  type AlertNotice,
  type AlertRule,
  type AlertsPlugin,
  alertsPlugin,
} from '../../src/alerts.ts'
import type { SchedulerOptions } from '../../src/index.ts'
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
