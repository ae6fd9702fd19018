/**
 * What `work` answers; the refusal as soon as the signal is aborted. Nothing is left at the signal, which may live for
 * much longer than the work: `Promise.race` would leave something at a promise in its place.
 */
export function unlessAborted<Answer>(
  work: Promise<Answer>,
  signal: AbortSignal,
  refusal: () => Error = () => signal.reason as Error,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const refuse = (): void => {
      reject(refusal())
    }
    if (signal.aborted) refuse()
    signal.addEventListener('abort', refuse, { once: true })
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', refuse)
    })
  })
}
