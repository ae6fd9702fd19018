import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { JobAndTriggers } from '../../src/jobstore/job-and-triggers.ts'
import type {
  AcquiredTrigger,
  JobCompletion,
  JobStore,
  TriggerFiredResult,
} from '../../src/jobstore/job-store.ts'
import { CompletionWriter } from '../../src/scheduler/completion-writer.ts'
import { QuartzSchedulerThread } from '../../src/scheduler/quartz-scheduler-thread.ts'
import { interceptJobStore, type StoreCall } from './intercept-job-store.ts'
import { replaceMethod } from './replace-method.ts'
import type { Mutation } from './sim-world.ts'

export interface KnownBug extends Mutation {
  readonly name: string
  /** What the checker must say about it. */
  readonly symptom: RegExp
}

const lostWakeUp: KnownBug = {
  name: 'A new trigger that is announced while the store is asked for the next ones is not looked for',
  symptom: /late although nothing stood in its way/,
  patch: ({ inFlight }) =>
    replaceMethod(
      QuartzSchedulerThread.prototype,
      'signalSchedulingChange',
      (original) =>
        function (this: QuartzSchedulerThread, candidateMs) {
          if (!inFlight.has('acquireNextTriggers')) original.call(this, candidateMs)
        },
    ),
}

const claimsKeptOnHalt: KnownBug = {
  name: 'The loop keeps its claims when it is halted',
  symptom: /cannot be acquired after the halt/,
  patch: ({ halts }) =>
    replaceMethod(
      QuartzSchedulerThread.prototype,
      'halt',
      (original) =>
        function (this: QuartzSchedulerThread) {
          halts.add(this)
          return original.call(this)
        },
    ),
  store: (store, { halts }) =>
    interceptJobStore(store, async (call) => {
      const gives = call.method === 'releaseAcquiredTriggers' || call.method === 'releaseAllAcquiredTriggers'
      return gives && halts.size > 0 ? [] : call.proceed()
    }),
}

const misalignedResults: KnownBug = {
  name: 'triggersFired leaves out what it did not fire, so that its answers belong to other triggers',
  symptom: /is overdue and has no outcome|cannot be acquired after the halt|is open although nothing runs/,
  answer: (call, answer) =>
    call.method === 'triggersFired'
      ? (answer as readonly TriggerFiredResult[]).filter((result) => result.kind === 'fired')
      : answer,
}

const wholeBatchAtOnce: KnownBug = {
  name: 'All triggers of a batch fire when the first of them is due',
  symptom: /ms early/,
  answer: (call, answer) => {
    if (call.method !== 'acquireNextTriggers') return answer
    const batch = answer as readonly AcquiredTrigger[]
    const firstMs = batch[0]?.trigger.nextFireTimeMs ?? null
    return batch.map((claim) => ({
      ...claim,
      trigger: claim.trigger.withFireState({
        nextFireTimeMs: firstMs,
        previousFireTimeMs: claim.trigger.previousFireTimeMs,
        timesTriggered: claim.trigger.timesTriggered,
        misfiredFireTimeMs: claim.trigger.misfiredFireTimeMs,
      }),
    }))
  },
}

const siblingsNotBlocked: KnownBug = {
  name: 'The other triggers of a non-concurrent job are not blocked while it runs',
  symptom: /non-concurrent job .* (fired twice|overlaps itself)|overlaps itself/,
  store: (store) => {
    const concurrent = (job: JobDetail): JobDetail => ({ ...job, disallowConcurrentExecution: false })
    return interceptJobStore(store, (call) => {
      if (call.method === 'addJob') {
        const [job, options] = call.parameters as Parameters<JobStore['addJob']>
        return store.addJob(concurrent(job), options)
      }
      if (call.method !== 'scheduleJobs') return call.proceed()
      const [entries, options] = call.parameters as [readonly JobAndTriggers[], { replace: boolean }]
      const changed = entries.map(({ job, triggers }) => ({
        job: job === null ? null : concurrent(job),
        triggers,
      }))
      return store.scheduleJobs(changed, options)
    })
  },
}

const completionSkipped: KnownBug = {
  name: 'A listener that throws keeps the store from being told that the firing ended',
  symptom: /is open although nothing runs for it|is BLOCKED for ever/,
  patch: ({ troubled }) =>
    replaceMethod(
      CompletionWriter.prototype,
      'handOver',
      (original) =>
        function (this: CompletionWriter, completion) {
          if (troubled.has(completion.fireInstanceId)) return Promise.resolve()
          return original.call(this, completion)
        },
    ),
}

const nextFromTheClock: KnownBug = {
  name: 'The next fire time is computed from the clock, so that a clock that jumped back fires instants again',
  symptom: /the next fire time should be|had its outcome/,
  store: (store, { clock }) =>
    interceptJobStore(store, async (call) => {
      const answer = await call.proceed()
      if (call.method !== 'triggersFired') return answer
      return Promise.all(
        (answer as readonly TriggerFiredResult[]).map((result) => fromTheClock(store, result, clock.now())),
      )
    }),
}

async function fromTheClock(
  store: JobStore,
  result: TriggerFiredResult,
  nowMs: number,
): Promise<TriggerFiredResult> {
  if (result.kind !== 'fired') return result
  const { trigger } = result.bundle
  const nextMs = trigger.fireTimeAfterMs(nowMs)
  if (trigger.nextFireTimeMs === null || nextMs === null || nextMs >= trigger.nextFireTimeMs) return result
  const again = trigger.withFireState({
    nextFireTimeMs: nextMs,
    previousFireTimeMs: trigger.previousFireTimeMs,
    timesTriggered: trigger.timesTriggered,
    misfiredFireTimeMs: null,
  })
  await store.rescheduleTrigger(trigger.key, again)
  return { kind: 'fired', bundle: { ...result.bundle, trigger: again, nextFireTimeMs: nextMs } }
}

const unfencedCompletion: KnownBug = {
  name: 'A completion that is told again after its answer was lost ends another execution of the job',
  symptom: /fired twice|is stored and should not be|is gone from the store|is not there to fire/,
  store: (store) => {
    const ended = new Set<string>()
    const open = new Map<string, string>()
    return interceptJobStore(store, async (call) => {
      if (call.method === 'triggeredJobsComplete') {
        const [completions] = call.parameters as [readonly JobCompletion[]]
        const unfenced = completions.map((completion) =>
          ended.has(completion.fireInstanceId)
            ? { ...completion, fireInstanceId: open.get(completion.jobDetail.key.toString()) ?? 'none' }
            : completion,
        )
        for (const { fireInstanceId } of unfenced) ended.add(fireInstanceId)
        return store.triggeredJobsComplete(unfenced)
      }
      const answer = await call.proceed()
      if (call.method !== 'triggersFired') return answer
      for (const result of answer as readonly TriggerFiredResult[]) {
        if (result.kind !== 'fired') continue
        open.set(result.bundle.jobDetail.key.toString(), result.bundle.fireInstanceId)
      }
      return answer
    })
  },
}

const dataLost: KnownBug = {
  name: 'The data that a job left are not stored when several executions end together',
  symptom: /the counter job ran/,
  store: (store) =>
    interceptJobStore(store, (call) => {
      if (call.method !== 'triggeredJobsComplete') return call.proceed()
      const [completions] = call.parameters as [readonly JobCompletion[]]
      const [first, ...others] = completions
      if (first === undefined) return call.proceed()
      const bare = others.map((completion) => ({ ...completion, jobDataMap: null }))
      return store.triggeredJobsComplete([first, ...bare])
    }),
}

const scanForgotten: KnownBug = {
  name: 'Late triggers are handed out without their misfire policy',
  symptom: /past its misfire policy/,
  store: (store) =>
    interceptJobStore(store, (call: StoreCall) => {
      if (call.method !== 'initialize') return call.proceed()
      const [context] = call.parameters as Parameters<JobStore['initialize']>
      return store.initialize({ ...context, misfireThresholdMs: context.misfireThresholdMs + 1000 })
    }),
}

/** Bugs that schedulers have had. Each is put in by wrapping or patching, so that the sources know nothing of it. */
export const knownBugs: readonly KnownBug[] = [
  lostWakeUp,
  claimsKeptOnHalt,
  misalignedResults,
  wholeBatchAtOnce,
  siblingsNotBlocked,
  completionSkipped,
  nextFromTheClock,
  unfencedCompletion,
  dataLost,
  scanForgotten,
]
