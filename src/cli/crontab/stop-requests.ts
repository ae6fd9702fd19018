import type { CliHost } from '../host.ts'

/** Why a run ends. */
export type StopReason = 'time is up' | 'signal'

export interface StopRequests {
  /** Resolves when the time is up or the first signal came. */
  readonly first: Promise<StopReason>
  /** Resolves when a further signal says that nobody wants to wait. */
  readonly atOnce: Promise<void>
  /** Stops listening. */
  dispose(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Listens for what ends a run: signals and, unless null, the time that it may take. */
export function stopRequests(host: CliHost, forMs: number | null): StopRequests {
  const first = deferred<StopReason>()
  const atOnce = deferred<undefined>()
  let isStopping = false
  const stop = (reason: StopReason): void => {
    isStopping = true
    first.resolve(reason)
  }
  const onSignal = (): void => {
    if (isStopping) atOnce.resolve(undefined)
    else stop('signal')
  }
  const removers = signals.map((signal) => host.onSignal(signal, onSignal))
  const timer =
    forMs === null
      ? null
      : host.clock.setTimer(forMs, () => {
          stop('time is up')
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
