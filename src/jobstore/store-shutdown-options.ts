/** How a store is shut down. */
export interface StoreShutdownOptions {
  /**
   * When this is aborted, before or during the call, the scheduler does not wait any more: the store sends nothing more
   * to its server, rejects operations under way, and leaves no timer, connection or thread behind.
   */
  readonly cut?: AbortSignal
}
