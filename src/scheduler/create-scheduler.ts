import type { Logger } from '../core/logger.ts'
import { requireSupportedNode } from '../core/runtime.ts'
import { JobRegistry } from '../jobs/job-registry.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { MemoryNotes } from '../jobstore/memory-notes.ts'
import { ramJobStore } from '../jobstore/ram/ram-job-store.ts'
import { SchedulerEventEmitter } from '../listeners/events.ts'
import { ListenerManager } from '../listeners/listener-manager.ts'
import type { PiscinaThreadPoolOptions } from '../threadpool/piscina-options.ts'
import { piscinaThreadPool } from '../threadpool/piscina-thread-pool.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import { unnamedZone } from '../time/unnamed-zone.ts'
import { TimeZone } from '../time/zone.ts'
import { backlogMaxOf } from './completion-backlog.ts'
import { CompletionWriter } from './completion-writer.ts'
import { Declarations } from './declarations.ts'
import { ExecutingJobs } from './executing-jobs.ts'
import { JobDispatcher } from './job-dispatcher.ts'
import { LateCauses } from './late-causes.ts'
import { Nameless } from './nameless.ts'
import { Notifier } from './notifier.ts'
import { ProbedJobStore } from './probed-job-store.ts'
import { QuartzScheduler, type QuartzSchedulerParts } from './quartz-scheduler.ts'
import { QuartzSchedulerThread } from './quartz-scheduler-thread.ts'
import { Recorder } from './recorder.ts'
import { RemoteExecutions, type RemoteExecutionsParts } from './remote-executions.ts'
import { ScheduleChecks } from './schedule-checks.ts'
import type { ScheduleSet } from './schedule-definition.ts'
import type { Scheduler } from './scheduler.ts'
import { SchedulerLifeCycle } from './scheduler-life-cycle.ts'
import {
  checkSchedulerOptions,
  type ResolvedSchedulerOptions,
  resolveSchedulerOptions,
  type SchedulerBehaviour,
} from './scheduler-options.ts'
import type { PluginContext } from './scheduler-plugin.ts'
import { combinedProbe, type SchedulerProbe } from './scheduler-probe.ts'
import { SignalReceiver } from './signal-receiver.ts'
import { TurnBudget } from './turn-budget.ts'

/** Options of `createScheduler`; all have defaults. */
export interface SchedulerOptions extends SchedulerBehaviour {
  /** Where jobs and triggers are kept. Default: in memory. */
  readonly jobStore?: JobStore
  /** Where jobs run: a pool, or options of the piscina pool. Default: 10 slots, worker threads when needed. */
  readonly threadPool?: ThreadPool | PiscinaThreadPoolOptions
}

/**
 * Makes a scheduler, in standby mode: store jobs and triggers, then `start` it. The one place that wires the parts
 * together.
 *
 * @example
 * const scheduler = await createScheduler({ jobs: [report] })
 *
 * @throws SchedulerError ERR_NODE_TOO_OLD before Node.js 20.19
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is unknown or out of bounds
 * @throws SchedulerError ERR_DRIVER_MISSING, ERR_DATABASE, ERR_DATABASE_UNAVAILABLE, ERR_SCHEMA_TOO_OLD,
 *   ERR_SCHEMA_TOO_NEW, ERR_STORE_IN_USE, ERR_ENTRY_MISSING; for `calendars` as `addCalendar`,
 *   for `schedules` as `reconcile`
 */
export async function createScheduler(options: SchedulerOptions = {}): Promise<Scheduler> {
  requireSupportedNode()
  checkSchedulerOptions(options)
  const { jobStore: store = ramJobStore(), threadPool: pool = {} } = options
  const threadPool = isThreadPool(pool) ? pool : piscinaThreadPool(pool)
  const unprobed = resolveSchedulerOptions(options, { jobStore: store, threadPool })
  const probe = probeOf(unprobed)
  const jobStore = probedStore(store, probe)
  const resolved = Object.freeze({ ...unprobed, jobStore })
  const { logger } = resolved
  const registry = registryOf(resolved)
  const notifier = new Notifier(new SchedulerEventEmitter(logger), new ListenerManager(), logger)
  const executing = new ExecutingJobs()
  const completions = new CompletionWriter(jobStore, resolved.clock, notifier, backlogMaxOf(threadPool.size))
  const recorder = new Recorder({ ...resolved, store: jobStore, notifier })
  const lateCauses = new LateCauses(resolved.clock, resolved.misfireThresholdMs)
  const shared = {
    options: resolved,
    probe,
    registry,
    notifier,
    executing,
    completions,
    lateCauses,
    recorder,
  }
  const end: RemoteExecutionsParts['end'] = (...call) => dispatcher.endAwaited(...call)
  const remotes = new RemoteExecutions({ ...resolved, ...shared, end })
  const dispatcher = new JobDispatcher({ ...resolved, ...shared, remotes, scheduler: () => scheduler })
  const thread = new QuartzSchedulerThread({
    ...resolved,
    notifier,
    lateCauses,
    dispatch: (bundle) => {
      dispatcher.dispatch(bundle)
    },
    places: dispatcher,
  })
  const signals = new SignalReceiver({
    ...shared,
    loop: thread,
    scheduler: () => scheduler,
  })
  const lifeCycle = new SchedulerLifeCycle({ ...shared, remotes, thread, signals })
  const scheduling = schedulingParts(resolved, { notifier, lifeCycle, registry })
  const scheduler: QuartzScheduler = new QuartzScheduler({
    ...shared,
    ...scheduling,
    remotes,
    lifeCycle,
    thread,
  })
  // The first zone that a process looks at loads the zone data, which takes 25 ms: now, before jobs run.
  TimeZone.of('Europe/London').offsetMsAt(resolved.clock.now())
  warnOfZone(logger)
  try {
    await lifeCycle.initialize()
    remotes.connect(scheduler)
    await lifeCycle.initializePlugins(scheduler, pluginContextOf(resolved))
    await declare(scheduling.declarations, options)
  } catch (error) {
    // What was opened on the way is closed again, so that a failed start leaves no handles behind.
    await scheduler.shutdown()
    throw error
  }
  return scheduler
}

type SchedulingParts = Pick<QuartzSchedulerParts, 'budget' | 'checks' | 'declarations' | 'nameless'>

/** What stores schedules, be it for a caller or at the start. */
function schedulingParts(
  options: ResolvedSchedulerOptions,
  parts: Pick<QuartzSchedulerParts, 'lifeCycle' | 'notifier' | 'registry'>,
): SchedulingParts {
  const { clock, jobStore, logger } = options
  const { persistent, sharding } = jobStore.capabilities
  const checks = new ScheduleChecks({
    ...options,
    registry: parts.registry,
    store: jobStore,
    keeper: jobStore,
    storeWithoutSharding: sharding === true ? null : jobStore.name,
  })
  const budget = new TurnBudget(clock)
  const nameless = new Nameless({ isPersistent: persistent, clock, logger })
  const open = (): JobStore => {
    parts.lifeCycle.requireOpen()
    return jobStore
  }
  const declarations = new Declarations({ ...parts, options, budget, checks, nameless, open })
  return { budget, checks, declarations, nameless }
}

/** Calendars first, because schedules name them. */
async function declare(
  declarations: Declarations,
  { calendars = {}, schedules }: SchedulerOptions,
): Promise<void> {
  const set: ScheduleSet | undefined =
    schedules === undefined || 'schedules' in schedules ? schedules : { schedules }
  const version = set?.version ?? null
  for (const [name, calendar] of Object.entries(calendars))
    await declarations.declareCalendar({ name, calendar, version })
  if (set === undefined) return
  await declarations.declareSet(set.name ?? 'default', set.schedules, {
    ...(version !== null && { version }),
  })
}

/** Schedules that were meant for another zone would fire at another hour, and nothing else would say why. */
function warnOfZone(logger: Logger): void {
  const problem = unnamedZone()
  if (problem === null) return
  logger.warn(
    {},
    `${problem}: times without a zone are in UTC. Set TZ to a name such as 'Europe/Paris', or name the zone where a ` +
      "time is given, as with 'zone' or inTimeZone.",
  )
}

/** What the plugins measure and trace; null when none does. */
function probeOf({ plugins, ...about }: ResolvedSchedulerOptions): SchedulerProbe | null {
  return combinedProbe(plugins.flatMap((plugin) => plugin.probe?.(about) ?? []))
}

function pluginContextOf({ clock, ids, logger, jobStore }: ResolvedSchedulerOptions): PluginContext {
  return { clock, ids, logger, notes: jobStore.notes ?? new MemoryNotes() }
}

function probedStore(store: JobStore, probe: SchedulerProbe | null): JobStore {
  return probe?.aroundStoreCall === undefined ? store : new ProbedJobStore(store, probe)
}

function isThreadPool(given: ThreadPool | PiscinaThreadPoolOptions): given is ThreadPool {
  return 'runInThread' in given
}

function registryOf({
  jobs,
  jobFactory,
}: Pick<ResolvedSchedulerOptions, 'jobs' | 'jobFactory'>): JobRegistry {
  return new JobRegistry(jobs, { makesJobs: jobFactory !== null, code: 'ERR_INVALID_OPTION' })
}
