/** Where a server listens. */
export interface ListenOptions {
  /** 0 to 65,535; 0 takes a free one. Default 8080. */
  readonly port?: number
  /** An address of this machine. Default `127.0.0.1`, which other machines do not reach. */
  readonly host?: string
}

export interface CloseOptions {
  /**
   * Answers for so long that it is not ready, before anything ends, so that others send no more requests. Milliseconds,
   * 0 to 3,600,000, default 0.
   */
  readonly notReadyMs?: number
}

/** The HTTP API of one or more schedulers, and its page. */
export interface SchedulerServer extends AsyncDisposable {
  /**
   * The token that was made now, with the kind of authentication that makes one; null otherwise. It is kept nowhere.
   */
  readonly newToken: string | null
  /** Answers one request: mount it wherever requests and responses are those of the Fetch standard. Never rejects. */
  fetch(request: Request): Promise<Response>
  /**
   * Listens on a port of its own; answers its address, as in `http://127.0.0.1:8080`.
   *
   * @throws SchedulerError ERR_SERVER_CLOSED; the error of Node.js when the port is taken
   */
  listen(options?: ListenOptions): Promise<string>
  /**
   * Ends all streams and bulk actions, and listens no more; resolves when requests in flight have been answered, and
   * each bulk action has ended with the object that it was at, for 2 seconds at most. The schedulers go on.
   */
  close(options?: CloseOptions): Promise<void>
}
