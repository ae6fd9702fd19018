import { settledWithin } from '../time/settled-within.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import type { SchedulerPlugin } from './scheduler-plugin.ts'

const sayAfterMs = 10_000

const waiting = {
  initialize: 'createScheduler waits for it',
  start: 'the start waits for it',
}

/**
 * Runs a step of a plugin and waits for as long as it takes: it may be at work on a large database. Once in that time
 * the log says what is waited for, because nothing else would.
 */
export async function awaitPlugin(
  { clock, logger }: Pick<ResolvedSchedulerOptions, 'clock' | 'logger'>,
  { name }: SchedulerPlugin,
  step: keyof typeof waiting,
  run: () => unknown,
): Promise<void> {
  const answer = run()
  if (answer === undefined) return
  const running = Promise.resolve(answer)
  if (await settledWithin(clock, sayAfterMs, running)) return
  logger.warn(
    { plugin: name, step },
    `Plugin '${name}' has not ended its ${step} after ${sayAfterMs / 1000} s; ${waiting[step]}.`,
  )
  await running
}
