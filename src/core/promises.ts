/** Whether a value can be awaited: a promise of any implementation. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Awaits a value only if there is something to wait for: a promise costs hot paths more than what they do. */
export function after<Value, Next>(
  value: Value | Promise<Value>,
  next: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/**
 * For work that no caller awaits: its failure goes to `onFailure`, because an unhandled rejection ends the process.
 * `onFailure` must not throw.
 */
export function unawaited(work: PromiseLike<unknown>, onFailure: (error: unknown) => void): void {
  work.then(() => {}, onFailure)
}

/**
 * Calls a function of the user whose answer is of no interest. It may be an async function, whatever its type says, so
 * what it throws and what its promise rejects with go to `onFailure`, which must not throw.
 */
export function calledSafely(call: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const answer = call()
    if (isThenable(answer)) unawaited(answer, onFailure)
  } catch (error) {
    onFailure(error)
  }
}

/**
 * As `try`, `catch` and `finally` in an async function, but without a promise where neither `run` nor `failed` returns
 * one: what waits for its end need not wait for a turn of promises then.
 */
export function carriedOut<Value>(
  run: () => Value | PromiseLike<Value>,
  { failed, ended }: { failed: (error: unknown) => Value | PromiseLike<Value>; ended: () => unknown },
): Value | PromiseLike<Value> {
  let answer: Value | PromiseLike<Value>
  try {
    answer = run()
    if (isThenable(answer)) answer = Promise.resolve(answer).then(undefined, failed)
  } catch (error) {
    try {
      answer = failed(error)
    } catch (again) {
      ended()
      throw again
    }
  }
  if (isThenable(answer)) return Promise.resolve(answer).finally(ended)
  ended()
  return answer
}
