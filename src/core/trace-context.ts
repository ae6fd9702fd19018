/** The context of a trace as W3C Trace Context writes it: plain text, so that it can cross into a thread. */
export interface TraceContext {
  /** Version, trace id, span id and flags. */
  readonly traceparent: string
  /** What vendors add; null for nothing. */
  readonly tracestate: string | null
}
