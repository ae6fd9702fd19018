import { constants } from 'node:os'
import { checkFunction, checkOneOf, listOf } from '../core/arguments.ts'
import { listenLastingly } from '../core/lasting-listener.ts'
import { refuseUnknownKeys, requireInteger } from '../core/options.ts'
import { unawaited } from '../core/promises.ts'
import { textOf } from '../core/thrown-value.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { PluginContext, SchedulerPlugin } from '../scheduler/scheduler-plugin.ts'
import { timerDelayMaxMs } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'

export interface ShutdownHookOptions {
  /** Signals to act on. Default SIGINT and SIGTERM. */
  readonly signals?: readonly NodeJS.Signals[]
  /**
   * Wait for running jobs no longer than this, then interrupt them. They have the scheduler's `interruptGraceMs` to
   * end. Milliseconds, 0 to 2,147,483,647, default 30,000.
   */
  readonly interruptAfterMs?: number
  /**
   * Called at the signal, before the shutdown, which waits for it, but no longer than `interruptAfterMs`, of which it
   * takes its part: a place to say that the process is not ready any more, and to give others a while to see it.
   * Default nothing.
   */
  readonly beforeShutdown?: () => void | Promise<void>
}

/** A process cannot listen to the other two. */
const checkSignal = checkOneOf(
  Object.keys(constants.signals).filter((name) => name !== 'SIGKILL' && name !== 'SIGSTOP'),
)

/**
 * Shuts the scheduler down when the process is told to stop, waiting for running jobs and interrupting those that take
 * too long. The process then ends by itself; a second signal ends it at once, as if there were no hook.
 */
export function shutdownHookPlugin(options: ShutdownHookOptions = {}): SchedulerPlugin {
  refuseUnknownKeys('shutdownHookPlugin', options, ['signals', 'interruptAfterMs', 'beforeShutdown'])
  const interruptAfterMs = requireInteger(
    'shutdownHookPlugin',
    'interruptAfterMs',
    options.interruptAfterMs ?? 30_000,
    {
      min: 0,
      max: timerDelayMaxMs,
    },
  )
  const { signals = ['SIGINT', 'SIGTERM'], beforeShutdown = () => {} } = options
  checkFunction('shutdownHookPlugin', 'beforeShutdown', beforeShutdown, 'ERR_INVALID_OPTION')
  listOf(checkSignal)('shutdownHookPlugin', 'signals', signals, 'ERR_INVALID_OPTION')
  return {
    name: 'shutdownHook',
    initialize(scheduler: Scheduler, { clock }: PluginContext) {
      const onSignal = (): void => {
        remove()
        const shutDown = async (): Promise<void> => {
          const beganMs = clock.elapsedMs()
          try {
            await settledWithin(clock, interruptAfterMs, Promise.resolve().then(beforeShutdown))
          } catch (error) {
            process.emitWarning(`beforeShutdown failed; the scheduler shuts down: ${textOf(error)}`)
          }
          const leftMs = Math.max(0, Math.ceil(interruptAfterMs - (clock.elapsedMs() - beganMs)))
          await scheduler.shutdown({ waitForJobsToComplete: true, interruptAfterMs: leftMs })
        }
        unawaited(shutDown(), (error) => {
          // The scheduler has shut down, so nothing receives its events any more.
          process.emitWarning(`The scheduler could not be shut down at a signal: ${textOf(error)}`)
        })
      }
      const remove = listenLastingly(process, signals, onSignal)
      scheduler.events.on('schedulerShutdown', remove)
    },
  }
}
