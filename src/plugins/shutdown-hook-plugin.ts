import { constants } from 'node:os'
import { checkOneOf, listOf } from '../core/arguments.ts'
import { listenLastingly } from '../core/lasting-listener.ts'
import { refuseUnknownKeys, requireInteger } from '../core/options.ts'
import { unawaited } from '../core/promises.ts'
import { textOf } from '../core/thrown-value.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { SchedulerPlugin } from '../scheduler/scheduler-plugin.ts'
import { timerDelayMaxMs } from '../time/clock.ts'

export interface ShutdownHookOptions {
  /** Signals to act on. Default SIGINT and SIGTERM. */
  readonly signals?: readonly NodeJS.Signals[]
  /** Wait for running jobs no longer than this. Milliseconds, 0 to 2,147,483,647, default 30,000. */
  readonly timeoutMs?: number
}

const checkSignal = checkOneOf(Object.keys(constants.signals))

/**
 * Shuts the scheduler down, waiting for running jobs, when the process is told to stop. The process then ends by
 * itself; a second signal ends it at once, as if there were no hook.
 */
export function shutdownHookPlugin(options: ShutdownHookOptions = {}): SchedulerPlugin {
  refuseUnknownKeys('shutdownHookPlugin', options, ['signals', 'timeoutMs'])
  const timeoutMs = requireInteger('shutdownHookPlugin', 'timeoutMs', options.timeoutMs ?? 30_000, {
    min: 0,
    max: timerDelayMaxMs,
  })
  const { signals = ['SIGINT', 'SIGTERM'] } = options
  listOf(checkSignal)('shutdownHookPlugin', 'signals', signals, 'ERR_INVALID_OPTION')
  let remove = (): void => {}
  return {
    name: 'shutdownHook',
    initialize(scheduler: Scheduler) {
      const onSignal = (): void => {
        remove()
        unawaited(scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs }), (error) => {
          // The scheduler has shut down, so nothing receives its events any more.
          process.emitWarning(`The scheduler could not be shut down at a signal: ${textOf(error)}`)
        })
      }
      remove = listenLastingly(process, signals, onSignal)
    },
    shutdown() {
      remove()
    },
  }
}
