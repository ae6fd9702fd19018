import type * as api from '@opentelemetry/api'
import type { TraceContext } from '../../core/trace-context.ts'

/** A span's context as W3C Trace Context writes it. */
export function traceContextOf({ traceId, spanId, traceFlags, traceState }: api.SpanContext): TraceContext {
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0')
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: traceState?.serialize() ?? null }
}

const traceparentPattern = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/

/** The context of a span in another thread; null for text that is none. */
export function spanContextOf(
  { traceparent, tracestate }: TraceContext,
  otel: typeof api,
): api.SpanContext | null {
  const [, traceId, spanId, flags] = traceparentPattern.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate !== null && { traceState: otel.createTraceState(tracestate) }),
  }
}
