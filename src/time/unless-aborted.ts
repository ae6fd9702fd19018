/** An AbortSignal, or what is lighter than one. */
export interface Abortable {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * What `work` answers; the refusal as soon as the signal is aborted. Nothing is left at the signal, which may live for
 * much longer than the work: `Promise.race` would leave something at a promise in its place.
 */
export function unlessAborted<Answer>(
  work: Promise<Answer>,
  signal: Abortable,
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
