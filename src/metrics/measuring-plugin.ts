import type { Scheduler } from '../scheduler/scheduler.ts'
import type { SchedulerPlugin } from '../scheduler/scheduler-plugin.ts'
import type { ProbeContext, SchedulerProbe } from '../scheduler/scheduler-probe.ts'
import { EventLoopLagMonitor } from '../time/event-loop-lag.ts'
import { Meters } from './meters.ts'
import type { MetricsBackend } from './metrics-backend.ts'
import { SchedulerMeasurements } from './scheduler-measurements.ts'

/** A plugin that measures every scheduler it is given to. */
export type MeasuringPlugin = SchedulerPlugin & Required<Pick<SchedulerPlugin, 'probe'>>

/** How many job groups are told apart unless the options say otherwise. */
export const defaultMaxJobGroups = 100

/** Measures schedulers for one exporter; `backend` is called when the first scheduler is made. */
export function measuringPlugin(
  name: string,
  maxJobGroups: number,
  backend: () => MetricsBackend,
): MeasuringPlugin {
  let meters: Meters | null = null
  let running = 0
  const lag = new EventLoopLagMonitor()
  const makeMeters = (): Meters => {
    const made = new Meters(backend(), maxJobGroups)
    made.gauge('eventLoopLag', async () => {
      if (running === 0) return []
      const { meanMs, p99Ms, maxMs } = lag.read()
      return [
        { labels: ['mean'], value: meanMs / 1000 },
        { labels: ['p99'], value: p99Ms / 1000 },
        { labels: ['max'], value: maxMs / 1000 },
      ]
    })
    return made
  }
  return {
    name,
    probe(context: ProbeContext): SchedulerProbe {
      meters ??= makeMeters()
      return new SchedulerMeasurements(context, meters)
    },
    initialize(scheduler: Scheduler): void {
      if (running++ === 0) lag.start()
      scheduler.events.on('schedulerShutdown', () => {
        if (--running === 0) lag.stop()
      })
    },
  }
}
