/** Whether a value can be awaited: a promise of any implementation. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/**
 * For work that no caller awaits: its failure goes to `onFailure`, because an unhandled rejection ends the process.
 * `onFailure` must not throw.
 */
export function unawaited(work: PromiseLike<unknown>, onFailure: (error: unknown) => void): void {
  work.then(() => {}, onFailure)
}
