import type * as api from '@opentelemetry/api'
import type { JobExecutionError } from '../../core/errors.ts'
import { textOf } from '../../core/thrown-value.ts'
import { firingLatenessMs } from '../../jobs/firing-lateness.ts'
import type { JobStoreOperation } from '../../jobstore/delegating-job-store.ts'
import type { TriggerFiredBundle } from '../../jobstore/fired-bundle.ts'
import type { AcquiredTrigger } from '../../jobstore/job-store.ts'
import { endOf } from '../../scheduler/execution-report.ts'
import type { JobRun, ProbeContext, SchedulerProbe, StoreCall } from '../../scheduler/scheduler-probe.ts'
import { traceContextOf } from './trace-text.ts'

/** The operations of a store that are steps of a firing, and the names of their spans. */
const steps: Partial<Record<JobStoreOperation, string>> = {
  acquireNextTriggers: 'acquire',
  acquireAndFire: 'acquire',
  scheduleAndFire: 'fire',
  triggersFired: 'fire',
  triggeredJobsComplete: 'complete',
}

/** Most links of one span: many firings may end in one write. */
const linksMax = 100
/** How many runs are known whose end is not written: another node may write it, and tells nothing. */
const runsMax = 10_000

/**
 * Makes spans of the steps of firings: `acquire`, `fire` and `complete` for the calls of the store, which are about
 * many triggers at once, and a `run` of its own for each execution, as the root of a trace. The run is linked to the
 * step that fired its trigger, and the completion to the runs that it writes.
 */
export class TracingProbe implements SchedulerProbe {
  readonly #context: ProbeContext
  readonly #api: typeof api
  readonly #tracer: api.Tracer
  /** The step that has claimed a trigger, or fired it. */
  readonly #madeIn = new WeakMap<AcquiredTrigger | TriggerFiredBundle, api.SpanContext>()
  /** Runs whose end is not written yet, by fire instance id. */
  readonly #runs = new Map<string, api.SpanContext>()

  constructor(context: ProbeContext, otel: typeof api, tracer: api.Tracer) {
    this.#context = context
    this.#api = otel
    this.#tracer = tracer
  }

  async aroundStoreCall<Answer>(call: StoreCall<Answer>, proceed: () => Promise<Answer>): Promise<Answer> {
    const step = steps[call.operation]
    if (step === undefined) return proceed()
    const { clock } = this.#context
    const startTime = clock.now()
    const startedMs = clock.elapsedMs()
    // A span is made when the answer is known, because most calls of a quiet scheduler find nothing.
    const span = (attributes: api.Attributes): api.Span =>
      this.#tracer.startSpan(
        step,
        {
          root: true,
          startTime,
          attributes: { ...this.#attributes(), 'quartz.store.operation': call.operation, ...attributes },
          links: this.#linksOf(call),
        },
        this.#api.ROOT_CONTEXT,
      )
    const end = (made: api.Span): void => {
      made.end(startTime + clock.elapsedMs() - startedMs)
    }
    try {
      const answer = await proceed()
      const claimed = call.claimedBy(answer)
      const fired = call.firedBy(answer)
      const size = claimed.length + fired.length + call.completions.length
      if (size > 0) {
        const made = span({ 'quartz.batch.size': size })
        this.#note(made.spanContext(), claimed)
        this.#note(made.spanContext(), fired)
        end(made)
      }
      for (const { fireInstanceId } of call.completions) this.#runs.delete(fireInstanceId)
      return answer
    } catch (error) {
      const made = span({})
      this.#fail(made, error)
      end(made)
      throw error
    }
  }

  aroundJobRun(
    run: JobRun,
    proceed: () => Promise<JobExecutionError | null>,
  ): Promise<JobExecutionError | null> {
    const span = this.#startRun(run)
    // Without an SDK spans have no context, and what is said of them goes nowhere.
    return this.#api.trace.isSpanContextValid(span.spanContext())
      ? this.#inSpan(span, run, proceed)
      : proceed()
  }

  #startRun({ context, bundle }: JobRun): api.Span {
    const { schedulerName, instanceId } = this.#context
    const firedIn = this.#madeIn.get(bundle)
    return this.#tracer.startSpan(
      `run ${bundle.jobDetail.jobType}`,
      {
        root: true,
        // Written as one: an object that others are spread into takes 80 times as long to make.
        attributes: {
          'quartz.scheduler': schedulerName,
          'quartz.node': instanceId,
          'quartz.job.type': bundle.jobDetail.jobType,
          'quartz.job.group': context.jobKey.group,
          'quartz.job.name': context.jobKey.name,
          'quartz.trigger.group': context.originalTriggerKey.group,
          'quartz.trigger.name': context.originalTriggerKey.name,
          'quartz.fire_instance_id': context.fireInstanceId,
          'quartz.attempt': context.attempt,
          'quartz.refire_count': context.refireCount,
          'quartz.recovering': context.recovering,
          'quartz.lateness': firingLatenessMs(context) / 1000,
        },
        links: firedIn === undefined ? [] : [{ context: firedIn }],
      },
      this.#api.ROOT_CONTEXT,
    )
  }

  async #inSpan(
    span: api.Span,
    { context, carry, goesOnElsewhere }: JobRun,
    proceed: () => Promise<JobExecutionError | null>,
  ): Promise<JobExecutionError | null> {
    const { context: contexts, ROOT_CONTEXT, trace } = this.#api
    const own = span.spanContext()
    this.#remember(context.fireInstanceId, own)
    carry(traceContextOf(own))
    const error = await contexts.with(trace.setSpan(ROOT_CONTEXT, span), proceed)
    const isSent = error === null && goesOnElsewhere()
    span.setAttribute('quartz.outcome', isSent ? 'sent' : endOf(error).outcome)
    if (error !== null) this.#fail(span, error)
    span.end()
    return error
  }

  #remember(fireInstanceId: string, run: api.SpanContext): void {
    this.#runs.set(fireInstanceId, run)
    if (this.#runs.size <= runsMax) return
    const [oldest] = this.#runs.keys()
    if (oldest !== undefined) this.#runs.delete(oldest)
  }

  /** Without an SDK spans have no context, and there is nothing to link to. */
  #note(context: api.SpanContext, subjects: readonly (AcquiredTrigger | TriggerFiredBundle)[]): void {
    if (!this.#api.trace.isSpanContextValid(context)) return
    for (const subject of subjects) this.#madeIn.set(subject, context)
  }

  #attributes(): api.Attributes {
    const { schedulerName, instanceId } = this.#context
    return { 'quartz.scheduler': schedulerName, 'quartz.node': instanceId }
  }

  /** To the steps that claimed what is to fire, each once, and to the runs that have ended. */
  #linksOf({ claims, completions }: StoreCall<never>): api.Link[] {
    const linked = new Set<api.SpanContext>()
    for (const claim of claims) add(linked, this.#madeIn.get(claim))
    for (const { fireInstanceId } of completions) add(linked, this.#runs.get(fireInstanceId))
    return [...linked].map((context) => ({ context }))
  }

  #fail(span: api.Span, error: unknown): void {
    const message = textOf(error)
    span.recordException(error instanceof Error ? error : message)
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message })
  }
}

function add(linked: Set<api.SpanContext>, context: api.SpanContext | undefined): void {
  if (context !== undefined && linked.size < linksMax) linked.add(context)
}
