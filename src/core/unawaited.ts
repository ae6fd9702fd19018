/**
 * For work that goes on by itself: nothing waits for it, and its failure goes to `onFailure`, so that none is lost and
 * none ends the process. `onFailure` must not throw.
 */
export function unawaited(work: PromiseLike<unknown>, onFailure: (error: unknown) => void): void {
  work.then(() => {}, onFailure)
}
