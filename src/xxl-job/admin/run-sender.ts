import { randomInt } from 'node:crypto'
import { SchedulerError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { unawaited } from '../../core/promises.ts'
import { logThrown, textOf } from '../../core/thrown-value.ts'
import type { TypedEventEmitter } from '../../core/typed-events.ts'
import type { Clock, EpochMs } from '../../time/clock.ts'
import type { PostWait } from '../protocol/post.ts'
import { xxlJobCodes } from '../protocol/reply.ts'
import type { TriggerRequest } from '../protocol/trigger-request.ts'
import type { XxlJobAdminEventMap, XxlJobRunPlace } from './admin-events.ts'
import type { ExecutorClient } from './executor-client.ts'
import type { ExecutorRegistry } from './executor-registry.ts'
import { firstThat, isGood, noExecutor, refuseAborted } from './first-that.ts'
import type { RemotePlace } from './remote-place.ts'
import type { ResultDesk } from './result-desk.ts'
import type { RouteCounters } from './route-counters.ts'
import type { ResolvedRun } from './run-options.ts'

/** A run, or one part of a broadcast, that ended well. */
export interface XxlJobRunPart {
  readonly logId: number
  /** What the executor files the log of the run under. */
  readonly logDateTime: Date
  readonly address: string
  readonly index: number
  readonly total: number
  /** What the executor said of the result. */
  readonly message: string
}

export interface RunSenderOptions {
  readonly registry: ExecutorRegistry
  readonly desk: ResultDesk
  readonly counters: RouteCounters
  readonly events: TypedEventEmitter<XxlJobAdminEventMap>
  readonly maxRuns: number
  readonly logger: Logger
  readonly clock: Clock
}

/** How many numbers are tried for a run. */
const numberAttempts = 20

/** Notes where a run goes, and that its result is awaited for so long. */
type WriteDown = (place: RemotePlace, timeoutMs: number) => Promise<void>

interface Part {
  readonly client: ExecutorClient
  readonly index: number
  readonly total: number
}

/** Chooses executors, sends runs and waits for their results. */
export class RunSender {
  readonly #options: RunSenderOptions
  /** Gives up what still waits. */
  readonly #givingUp = new Set<(why: string) => void>()
  #isClosed = false

  constructor(options: RunSenderOptions) {
    this.#options = options
  }

  /** @throws SchedulerError ERR_XXL_JOB_RUN, ERR_XXL_JOB_NO_RESULT */
  async run(run: ResolvedRun): Promise<readonly XxlJobRunPart[]> {
    this.#refuseClosed()
    refuseAborted(run)
    const { desk, maxRuns, clock } = this.#options
    const leftMs = timeOf(run, clock)
    const parts = await this.#partsOf(run, leftMs)
    this.#refuseClosed()
    refuseAborted(run)
    if (desk.size + parts.length > maxRuns) {
      throw new SchedulerError(
        'ERR_XXL_JOB_RUN',
        `There are ${desk.size} runs on their way already (maxRuns).`,
      )
    }
    const waitMs = leftMs()
    if (waitMs <= 0) throw noExecutor(timeIsOver(run))
    // The parts of a broadcast are of one time.
    const nowMs = clock.now()
    const ends = await Promise.allSettled(parts.map((part) => this.#send(run, part, nowMs, waitMs)))
    const failures = ends
      .filter((end) => end.status === 'rejected')
      .map(({ reason }) => reason as SchedulerError)
    if (failures.length > 0) throw oneOf(failures, parts.length)
    return ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
  }

  /**
   * Sends a run whose result somebody else awaits, after it was written down. Resolves also when the answer was lost,
   * because the executor may have it. `writeDown` is told for how long its result is awaited from then on.
   *
   * @throws SchedulerError ERR_XXL_JOB_RUN when no executor has it; and what `writeDown` throws
   */
  async send(run: ResolvedRun, writeDown: WriteDown): Promise<void> {
    this.#refuseClosed()
    refuseAborted(run)
    const { clock, events } = this.#options
    const leftMs = timeOf(run, clock)
    const [part] = await this.#partsOf(run, leftMs)
    if (part === undefined) throw noExecutor(`No executor of '${run.appName}' is registered.`)
    refuseAborted(run)
    const { appName, jobId, signal } = run
    const nowMs = clock.now()
    const written = await this.#writtenDown(nowMs, async (logId) => {
      const place = { appName, jobId, logId, address: part.client.address, logDateTimeMs: nowMs }
      const timeoutMs = Math.ceil(leftMs())
      if (timeoutMs <= 0) throw noExecutor(timeIsOver(run))
      await writeDown(place, timeoutMs)
    })
    const place: XxlJobRunPlace = { appName, jobId, logId: written, address: part.client.address }
    events.emit('runSent', place)
    const problems: string[] = []
    const request = requestOf(run, part, written, nowMs)
    const fail = (why: string): void => {
      problems.push(why)
    }
    // Not sent any more when its result would be late.
    const waitMs = leftMs()
    if (waitMs <= 0) fail('its time was over before it was sent')
    else
      await this.#post(part.client, request, place, fail, { waitMs, ...(signal !== undefined && { signal }) })
    const [problem] = problems
    if (problem === undefined) return
    const message = `Run ${written} of XXL-JOB job ${jobId} at ${place.address} failed: ${problem}`
    throw new SchedulerError('ERR_XXL_JOB_RUN', message)
  }

  /** Other nodes make numbers of the same clock: the next attempt takes another one. */
  async #writtenDown(nowMs: EpochMs, writeDown: (logId: number) => Promise<void>): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const logId = this.#options.desk.nextLogId(nowMs) + (attempt === 1 ? 0 : randomInt(attempt * 1000))
      try {
        await writeDown(logId)
        return logId
      } catch (error) {
        const isTaken = SchedulerError.is(error) && error.code === 'ERR_OBJECT_ALREADY_EXISTS'
        if (!isTaken || attempt === numberAttempts) throw error
      }
    }
  }

  /** No run is sent any more, and none is waited for. */
  close(): void {
    this.#isClosed = true
    for (const giveUp of [...this.#givingUp]) giveUp('the admin was closed')
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new SchedulerError('ERR_XXL_JOB_RUN', 'The admin is closed; make another one.')
  }

  async #partsOf(run: ResolvedRun, leftMs: () => number): Promise<readonly Part[]> {
    const { route, appName, jobId, shard, address } = run
    const { registry, counters, clock } = this.#options
    const clients = registry.clientsOf(appName)
    const [first] = clients
    if (first === undefined) throw noExecutor(`No executor of '${appName}' is registered.`)
    if (address !== undefined) {
      const client = clients.find((each) => each.address === address)
      if (client === undefined) throw noExecutor(`No executor of '${appName}' is registered at '${address}'.`)
      return [{ client, index: 0, total: 1, ...shard }]
    }
    if (shard !== undefined) return [{ client: clients[shard.index] ?? first, ...shard }]
    const alone = (client: ExecutorClient): readonly Part[] => [{ client, index: 0, total: 1 }]
    switch (route) {
      case 'SHARDING_BROADCAST':
        return clients.map((client, index) => ({ client, index, total: clients.length }))
      case 'FAILOVER':
        return alone(await firstThat(run, clients, { clock, leftMs, ask: (client) => client.beat() }))
      case 'BUSYOVER':
        return alone(
          await firstThat(run, clients, { clock, leftMs, ask: (client) => client.idleBeat(jobId) }),
        )
      default: {
        const addresses = clients.map(({ address }) => address)
        return alone(clients[await counters.next(route, appName, jobId, addresses)] ?? first)
      }
    }
  }

  #send(run: ResolvedRun, part: Part, nowMs: EpochMs, waitMs: number): Promise<XxlJobRunPart> {
    const { desk, clock, events } = this.#options
    const { signal, resultTimeoutMs, appName, jobId } = run
    const { client, index, total } = part
    const logId = desk.nextLogId(nowMs)
    const place: XxlJobRunPlace = { appName, jobId, logId, address: client.address }
    const waiting = new AbortController()
    let isUnderWay = false
    return new Promise((resolve, reject) => {
      const end = (error: SchedulerError | null, message: string): void => {
        if (!this.#givingUp.delete(giveUp)) return
        waiting.abort()
        stopWaiting()
        timer.cancel()
        signal?.removeEventListener('abort', abort)
        const outcome = outcomeOf(error)
        events.emit('runEnded', { ...place, outcome, message })
        if (error !== null) reject(error)
        else resolve({ logId, logDateTime: new Date(nowMs), address: client.address, index, total, message })
      }
      const fail = (problem: string): void => {
        const message = `Run ${logId} of XXL-JOB job ${jobId} at ${client.address} failed: ${problem}`
        end(new SchedulerError('ERR_XXL_JOB_RUN', message), problem)
      }
      const giveUp = (why: string): void => {
        const message = `Run ${logId} of XXL-JOB job ${jobId} at ${client.address} has no result: ${why}.`
        end(new SchedulerError('ERR_XXL_JOB_NO_RESULT', message), why)
      }
      const abort = (): void => {
        if (!isUnderWay) {
          fail('it was interrupted before it was sent')
          return
        }
        unawaited(this.#kill(client, jobId, fail, giveUp), () => {
          giveUp('it was interrupted')
        })
      }
      const stopWaiting = desk.expect(logId, appName, ({ handleCode, handleMsg }) => {
        if (handleCode === xxlJobCodes.success) end(null, handleMsg)
        else fail(`code ${handleCode}, ${handleMsg}`)
      })
      const timer = clock.setTimer(waitMs, () => {
        giveUp(`none came within ${resultTimeoutMs} ms`)
      })
      this.#givingUp.add(giveUp)
      signal?.addEventListener('abort', abort, { once: true })
      events.emit('runSent', place)
      const request = requestOf(run, part, logId, nowMs)
      const onConnection = (): void => {
        isUnderWay = true
      }
      const wait = { waitMs, signal: waiting.signal, onConnection }
      unawaited(this.#post(client, request, place, fail, wait), (error) => {
        fail(textOf(error))
      })
    })
  }

  /** Says only what it knows: a run whose answer was lost may run. */
  async #post(
    client: ExecutorClient,
    request: TriggerRequest,
    place: XxlJobRunPlace,
    fail: (problem: string) => void,
    wait: PostWait,
  ): Promise<void> {
    const answer = await client.run(request, wait)
    if (answer.kind === 'answered') {
      const { code, msg } = answer.reply
      if (code !== xxlJobCodes.success) fail(`it was refused: ${msg ?? `code ${code}`}`)
      return
    }
    if (answer.kind === 'unsent') {
      fail(answer.error.message)
      return
    }
    this.#options.events.emit('runUnknown', { ...place, error: answer.error })
    const message = 'an XXL-JOB executor did not answer a run; its result is waited for'
    logThrown(this.#options.logger, answer.error, message, { ...place }, 'warn')
  }

  /** As the admin of XXL-JOB has it, a run has failed when the executor says that it killed the job. */
  async #kill(
    client: ExecutorClient,
    jobId: number,
    fail: (problem: string) => void,
    giveUp: (why: string) => void,
  ): Promise<void> {
    if (isGood(await client.kill(jobId))) fail('it was interrupted, and the executor killed it')
    else giveUp('it was interrupted, and the executor did not say that it killed it')
  }
}

function requestOf(run: ResolvedRun, part: Part, logId: number, nowMs: EpochMs): TriggerRequest {
  const { jobId, handler, param, blockStrategy, timeoutSeconds, glue } = run
  return {
    jobId,
    executorHandler: handler,
    executorParams: param,
    blockStrategy,
    executorTimeout: timeoutSeconds,
    logId,
    logDateTimeMs: nowMs,
    glueType: glue?.type ?? 'BEAN',
    glueSource: glue?.source ?? '',
    glueUpdatetime: glue === undefined ? 0 : Number(glue.updated),
    broadcastIndex: part.index,
    broadcastTotal: part.total,
  }
}

/** What is left of the time of a run, which begins now. A machine that stood still counts by one clock alone. */
function timeOf({ resultTimeoutMs }: ResolvedRun, clock: Clock): () => number {
  const [beganMs, nowMs] = [clock.elapsedMs(), clock.now()]
  return () => resultTimeoutMs - Math.max(clock.elapsedMs() - beganMs, clock.now() - nowMs)
}

function timeIsOver({ resultTimeoutMs }: ResolvedRun): string {
  return `The time of the run was over before it was sent (resultTimeoutMs, ${resultTimeoutMs} ms).`
}

function outcomeOf(error: SchedulerError | null): XxlJobAdminEventMap['runEnded']['outcome'] {
  if (error === null) return 'succeeded'
  return error.code === 'ERR_XXL_JOB_NO_RESULT' ? 'noResult' : 'failed'
}

/** A broadcast of which a part may still run has no result: the caller that repeats it has to know. */
function oneOf(failures: readonly SchedulerError[], parts: number): unknown {
  const unknown = failures.find(({ code }) => code === 'ERR_XXL_JOB_NO_RESULT')
  const first = unknown ?? failures[0]
  if (parts === 1) return first
  const code = unknown === undefined ? 'ERR_XXL_JOB_RUN' : 'ERR_XXL_JOB_NO_RESULT'
  const cause = new AggregateError(failures, 'parts of a broadcast')
  const message = `${failures.length} of ${parts} parts did not end well. One of them: ${textOf(first)}`
  return new SchedulerError(code, message, { cause })
}
