import type * as api from '@opentelemetry/api'
import { checkFunction } from '../../core/arguments.ts'
import { requirePackage } from '../../core/package-files.ts'
import type { JobRunContext } from '../../jobs/job-run-context.ts'
import { spanContextOf } from './trace-text.ts'

/**
 * Wraps the function of a worker job, so that spans that it makes in its thread belong to the trace of its run. The
 * thread needs an SDK of its own; without one, or without a trace, the function runs as it is.
 *
 * @example
 * export default traced(async (context) => { ... })
 *
 * @throws SchedulerError ERR_DRIVER_MISSING without the package @opentelemetry/api
 */
export function traced<Context extends Pick<JobRunContext, 'traceContext'>, Answer>(
  job: (context: Context) => Answer,
): (context: Context) => Answer {
  checkFunction('traced', 'job', job)
  const otel = requirePackage('@opentelemetry/api', 'traced') as typeof api
  return (context) => {
    const parent = context.traceContext === null ? null : spanContextOf(context.traceContext, otel)
    if (parent === null) return job(context)
    return otel.context.with(otel.trace.setSpanContext(otel.ROOT_CONTEXT, parent), () => job(context))
  }
}
