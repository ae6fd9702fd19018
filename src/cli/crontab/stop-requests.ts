import { setLongTimer } from '../../time/clock.ts'
import type { CliHost } from '../host.ts'

/** Why a run ends. */
export type StopReason = 'time is up' | 'signal'

export interface StopRequests {
  /** Resolves when the time is up or the first signal came. */
  readonly first: Promise<StopReason>
  /** Resolves when a second signal asks for an end without waiting. */
  readonly atOnce: Promise<void>
  /** Stops listening. */
  dispose(): void
}

/** The same signal within this time is the same key press: npm passes on what the terminal has sent already. */
const samePressMs = 300

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Listens for what ends a run: signals and, unless null, the time that it may take. */
export function stopRequests(host: CliHost, forMs: number | null): StopRequests {
  const first = deferred<StopReason>()
  const atOnce = deferred<undefined>()
  let stopping: { readonly by: NodeJS.Signals | null; readonly sinceMs: number } | null = null
  const stop = (by: NodeJS.Signals | null): void => {
    stopping = { by, sinceMs: host.clock.elapsedMs() }
    first.resolve(by === null ? 'time is up' : 'signal')
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping === null) stop(signal)
    // That the terminal, or who reads the output, has gone as well asks for no more haste.
    else if (signal === 'SIGHUP') return
    else if (stopping.by !== signal || host.clock.elapsedMs() - stopping.sinceMs > samePressMs) {
      atOnce.resolve(undefined)
    }
  }
  const removers = signals.map((signal) =>
    host.onSignal(signal, () => {
      onSignal(signal)
    }),
  )
  const timer =
    forMs === null
      ? null
      : setLongTimer(host.clock, forMs, () => {
          stop(null)
        })
  return {
    first: first.promise,
    atOnce: atOnce.promise,
    dispose() {
      timer?.cancel()
      for (const remove of removers) remove()
    },
  }
}

function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
