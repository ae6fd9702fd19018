import { refusePromise } from '../core/arguments.ts'
import type { Logger } from '../core/logger.ts'
import { isObject } from '../core/options.ts'
import { calledSafely, unawaited } from '../core/promises.ts'
import { withoutSecrets } from '../core/secrets.ts'
import { logThrown, textOf } from '../core/thrown-value.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Clock, ClockTimer, EpochMs } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'
import { type AlertBook, alertIdOf, patienceMs, type StoredAlert, type StoredSilence } from './alert-book.ts'
import { type AlertSender, isSilenced } from './alert-sender.ts'
import type { AlertFinding, AlertNotice, AlertRule } from './alert-types.ts'

export interface AlertWatchParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly logger: Logger
  readonly book: AlertBook
  readonly rules: readonly AlertRule[]
  readonly sender: AlertSender
  readonly checkMs: number
  readonly storeAwayMs: number
}

type AlertFindings = readonly AlertFinding[]

/** Since when the store fails. */
interface StoreAway {
  readonly sinceMs: EpochMs
  /** The same by the monotonic clock. */
  readonly askedMs: number
  readonly error: unknown
}

/** Most alerts at one time: more say nothing more. But a rule is heard that has few. */
const alertsMax = 200
const fewAlerts = 20
const defaultQuietMs = 900_000
/** A node that has not renewed its claim by then is taken for dead, or after three checks. */
const claimMs = 600_000
/** A rule that has not answered by then is asked anew. Until then one question waits, not one for each check. */
const lostAnswerMs = 300_000
const resignMs = 1000
/** A store that has failed and then is silent for so long fails still. */
const silentMs = 5000
/** What is raised is stored at once, and then not more often than this: a rule may raise at every misfire. */
const raisePauseMs = 1000
/** How long an alert stays whose rule this node does not have. */
const strangeMs = 3_600_000
/** The rule of the alert that a node sends by itself, because without the store nodes cannot agree. */
const storeRule = 'store-unavailable'

/**
 * Looks after the alerts of a scheduler. What happens on a node is raised by that node; what can be asked of the store
 * is asked by one node at a time, which also ends alerts that are over, and sends what others have not sent.
 */
export class AlertWatch {
  readonly #parts: AlertWatchParts
  /** By the monotonic clock: the other one may be set, also to the time of the store, after the start. */
  #watchedSinceMs: number
  readonly #raised = new Map<string, { readonly rule: AlertRule; readonly finding: AlertFinding }>()
  readonly #failedRules = new Set<string>()
  /** What rules have been asked and is not used yet. */
  readonly #asked = new Map<
    AlertRule,
    { readonly sinceMs: number; readonly answer: Promise<AlertFindings> }
  >()
  /** Rules with more findings than there may be alerts. */
  readonly #crowdedRules = new Set<string>()
  readonly #stops: (() => unknown)[] = []
  /** Until the next check. */
  #timer: ClockTimer | null = null
  #isCheckDue = true
  /** Until what was raised meanwhile is stored. */
  #pause: ClockTimer | null = null
  #ticking: Promise<void> | null = null
  #leading: Promise<boolean> | null = null
  /** An end was told, and not yet that everything is back to normal. */
  #owesNormal = false
  #storeAway: StoreAway | null = null
  /** Until it is told that the store hangs. */
  #hanging: ClockTimer | null = null
  #isStoreAwayTold = false
  #isStopped = false

  constructor(parts: AlertWatchParts) {
    this.#parts = parts
    this.#watchedSinceMs = parts.clock.elapsedMs()
  }

  start(): void {
    const { clock, rules, scheduler } = this.#parts
    this.#watchedSinceMs = clock.elapsedMs()
    try {
      for (const rule of rules) {
        const stop: unknown = rule.watch?.({ scheduler, clock }, (finding) => {
          this.#raise(rule, requireFinding(finding))
        })
        refusePromise('watch', `alert rule '${rule.name}'`, stop)
        // One that has nothing to end may answer nothing.
        if (typeof stop === 'function') this.#stops.push(stop as () => unknown)
      }
    } catch (error) {
      // The next start begins all of them again.
      this.#endWatches()
      throw error
    }
    this.#tickSoon()
  }

  #endWatches(): void {
    for (const stop of this.#stops.splice(0)) {
      calledSafely(stop, (error) => {
        logThrown(this.#parts.logger, error, 'What the watch of an alert rule returned failed.')
      })
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    this.#pause?.cancel()
    this.#hanging?.cancel()
    this.#endWatches()
    try {
      // A rule that is being checked is not waited for.
      await settledWithin(this.#parts.clock, resignMs, this.#resign())
    } catch (error) {
      // Another node takes over when the lease is over.
      logThrown(this.#parts.logger, error, 'Alerts could not be handed to another node.', {}, 'warn')
    }
  }

  async #resign(): Promise<void> {
    await Promise.allSettled([this.#leading])
    await this.#parts.book.resign(this.#parts.scheduler.schedulerInstanceId)
  }

  #raise(rule: AlertRule, finding: AlertFinding): void {
    const id = alertIdOf(rule.name, finding.subject)
    if (!this.#raised.has(id) && this.#raised.size >= alertsMax) return
    this.#raised.set(id, { rule, finding })
    this.#storeRaisedSoon()
  }

  /** While the store fails, what was raised waits for the next check. */
  #storeRaisedSoon(): void {
    const waits = this.#pause !== null || this.#storeAway !== null
    if (this.#raised.size > 0 && !waits) this.#tickSoon()
  }

  #tickSoon(): void {
    if (this.#ticking !== null || this.#isStopped) return
    this.#ticking = this.#tick()
    unawaited(this.#ticking, (error) => {
      logThrown(this.#parts.logger, error, 'Looking after alerts has failed.')
    })
  }

  async #tick(): Promise<void> {
    // What was raised in the same turn is told together.
    await Promise.resolve()
    const isCheck = this.#isCheckDue
    const hasRaised = this.#raised.size > 0
    this.#isCheckDue = false
    try {
      await this.#work(isCheck)
      this.#storeAnswers()
    } catch (error) {
      if (!this.#isStopped) this.#storeFails(error)
    }
    this.#ticking = null
    if (!this.#isStopped) this.#goOn(isCheck, hasRaised)
  }

  #goOn(isCheck: boolean, hasRaised: boolean): void {
    const { clock, checkMs } = this.#parts
    const afterCheck = (): void => {
      this.#isCheckDue = true
      this.#tickSoon()
    }
    // Whether the store still fails is known when it is to be told.
    const leftMs = this.#awayLeftMs()
    if (isCheck || leftMs !== null) {
      this.#timer?.cancel()
      this.#timer = clock.setTimer(Math.min(checkMs, leftMs ?? checkMs), afterCheck, { unref: true })
    }
    const afterPause = (): void => {
      this.#pause = null
      this.#storeRaisedSoon()
    }
    if (hasRaised) this.#pause ??= clock.setTimer(raisePauseMs, afterPause, { unref: true })
    if (this.#isCheckDue) this.#tickSoon()
    else this.#storeRaisedSoon()
  }

  async #work(isCheck: boolean): Promise<void> {
    const { book, clock } = this.#parts
    const nowMs = clock.now()
    const alerts = new Map((await this.#toldOfSilence(book.alerts())).map((alert) => [alert.id, alert]))
    const silences = (await book.silences()).filter(({ untilMs }) => untilMs > nowMs)
    for (const [id, { rule, finding }] of [...this.#raised]) {
      await this.#keep(rule.name, finding, alerts, silences)
      this.#raised.delete(id)
    }
    if (isCheck) await this.#lookAtAll(alerts, silences)
  }

  /** What one node does for all: whatever was raised, it is done once in `checkMs`. */
  async #lookAtAll(alerts: Map<string, StoredAlert>, silences: readonly StoredSilence[]): Promise<void> {
    const { book, checkMs, clock, rules, scheduler } = this.#parts
    const nowMs = clock.now()
    await this.#renewClaims(alerts)
    if (this.#isStopped) return
    this.#leading = book.leads(scheduler.schedulerInstanceId, nowMs, 3 * checkMs)
    if (!(await this.#leading)) {
      this.#owesNormal = false
      return
    }
    const evaluated = await Promise.allSettled(rules.map((rule) => this.#evaluate(rule, alerts, silences)))
    for (const each of evaluated) if (each.status === 'rejected') throw each.reason
    await this.#endStrange(alerts)
    await this.#sendWhatIsLeft(silences)
    for (const silence of await book.silences()) if (silence.untilMs <= nowMs) await book.endSilence(silence)
  }

  /**
   * Stores what was found, unless it is known; the node that stores it sends it. False when the rule finds more than is
   * raised.
   */
  async #keep(
    rule: string,
    finding: AlertFinding,
    alerts: Map<string, StoredAlert>,
    silences: readonly StoredSilence[],
  ): Promise<boolean> {
    const { book, checkMs, clock, rules, scheduler, sender } = this.#parts
    const nowMs = clock.now()
    const id = alertIdOf(rule, finding.subject)
    const known = alerts.get(id)
    if (known !== undefined) {
      const quietMs = quietMsOf(rules.find(({ name }) => name === rule)) ?? Number.POSITIVE_INFINITY
      const isOld = nowMs - known.lastTimeMs >= Math.min(checkMs, quietMs) / 2
      const isNews = isOld || known.message !== finding.message
      if (isNews) await book.change({ ...known, message: finding.message, lastTimeMs: nowMs })
      return true
    }
    if (this.#isCrowded(rule, alerts)) return false
    const node = scheduler.schedulerInstanceId
    const isNow = sender.hasRoom && !isSilenced({ rule, subject: finding.subject }, silences)
    const alert = {
      ...finding,
      id,
      rule,
      node,
      sinceMs: nowMs,
      lastTimeMs: nowMs,
      isSent: false,
      claim: isNow ? { node, atMs: nowMs } : null,
    }
    if (!(await book.add(alert))) return true
    alerts.set(id, { ...alert, version: 1 })
    if (isNow) sender.raised(alert)
    return true
  }

  #isCrowded(rule: string, alerts: ReadonlyMap<string, StoredAlert>): boolean {
    const own = [...alerts.values()].filter((alert) => alert.rule === rule).length
    const isCrowded = alerts.size >= alertsMax && own >= fewAlerts
    if (!isCrowded) this.#crowdedRules.delete(rule)
    else if (!this.#crowdedRules.has(rule)) {
      this.#crowdedRules.add(rule)
      this.#parts.logger.warn({ rule, alerts: own }, 'An alert rule finds more than is raised.')
    }
    return isCrowded
  }

  async #evaluate(
    rule: AlertRule,
    alerts: Map<string, StoredAlert>,
    silences: readonly StoredSilence[],
  ): Promise<void> {
    const { clock } = this.#parts
    const own = (): StoredAlert[] => [...alerts.values()].filter((alert) => alert.rule === rule.name)
    const quietMs = quietMsOf(rule)
    if (quietMs !== null) {
      // What is raised all the time is noted with a pause between.
      const isOver = ({ lastTimeMs }: StoredAlert): boolean =>
        clock.now() - lastTimeMs > quietMs + raisePauseMs
      for (const alert of own()) if (isOver(alert)) await this.#end(alert, alerts)
      return
    }
    const found = await this.#check(rule)
    if (found === null) return
    const known = new Set(own().map(({ subject }) => subject))
    let hasRoom = true
    for (const finding of found) {
      // Where all jobs fail they are many, and most of them are left out: that must not hold up the event loop.
      if (!hasRoom && !known.has(finding.subject)) continue
      hasRoom = (await this.#keep(rule.name, finding, alerts, silences)) && hasRoom
    }
    const subjects = new Set(found.map(({ subject }) => subject))
    for (const alert of own()) if (!subjects.has(alert.subject)) await this.#end(alert, alerts)
  }

  /** Null when the rule cannot be checked: what it found before stays. */
  async #check(rule: AlertRule): Promise<AlertFindings | null> {
    const { clock, logger } = this.#parts
    const isLate = this.#asked.has(rule)
    const answer = this.#ask(rule)
    let isAnswered = true
    try {
      isAnswered = await settledWithin(clock, patienceMs, answer)
      if (!isAnswered) throw new Error(`no answer within ${patienceMs} ms`)
      if (!isLate) this.#failedRules.delete(rule.name)
      return await answer
    } catch (error) {
      if (!this.#failedRules.has(rule.name)) {
        logThrown(logger, error, `The alert rule '${rule.name}' cannot be checked.`, {}, 'warn')
      }
      this.#failedRules.add(rule.name)
      return null
    } finally {
      if (isAnswered) this.#asked.delete(rule)
    }
  }

  /** An answer that came too late for one check is that of the next. */
  #ask(rule: AlertRule): Promise<AlertFindings> {
    const { clock, scheduler } = this.#parts
    const before = this.#asked.get(rule)
    if (before !== undefined && clock.elapsedMs() - before.sinceMs < lostAnswerMs) return before.answer
    const nowMs = clock.now()
    const watchedMs = clock.elapsedMs() - this.#watchedSinceMs
    const check = { scheduler, nowMs, watchedSinceMs: nowMs - watchedMs }
    const answer = (async () => requireFindings((await rule.check?.(check)) ?? []))()
    this.#asked.set(rule, { sinceMs: clock.elapsedMs(), answer })
    return answer
  }

  async #end(alert: StoredAlert, alerts: Map<string, StoredAlert>): Promise<void> {
    if (!(await this.#parts.book.end(alert))) return
    alerts.delete(alert.id)
    // Who has heard nothing of it need not hear that it is over.
    if (!alert.isSent && alert.claim === null) return
    this.#parts.sender.resolved(alert)
    this.#owesNormal = true
  }

  /** An alert of a rule that no node has any more would stay for ever. */
  async #endStrange(alerts: Map<string, StoredAlert>): Promise<void> {
    const { book, clock, rules } = this.#parts
    const names = new Set(rules.map(({ name }) => name))
    for (const alert of alerts.values()) {
      if (!names.has(alert.rule) && clock.now() - alert.lastTimeMs > strangeMs) await book.end(alert)
    }
  }

  /** An alert that waits in a queue for long is not left to others. */
  async #renewClaims(alerts: ReadonlyMap<string, StoredAlert>): Promise<void> {
    const { book, clock, sender } = this.#parts
    const nowMs = clock.now()
    for (const alert of alerts.values()) {
      if (!sender.isSending(alert) || alert.claim === null) continue
      if (nowMs - alert.claim.atMs < claimMs / 2) continue
      await book.change({ ...alert, claim: { ...alert.claim, atMs: nowMs } })
    }
  }

  /**
   * Sends what was silenced and is not any more, what found no room, and what a node has left that died; or says that
   * nothing is the matter any more.
   */
  async #sendWhatIsLeft(silences: readonly StoredSilence[]): Promise<void> {
    const { book, checkMs, clock, scheduler, sender } = this.#parts
    const nowMs = clock.now()
    const isUnheard = (alert: StoredAlert): boolean => !alert.isSent && isSilenced(alert, silences)
    const alerts = await book.alerts()
    for (const alert of alerts) {
      const isLeft = alert.claim === null || nowMs - alert.claim.atMs > Math.max(claimMs, 3 * checkMs)
      if (alert.isSent || !isLeft || sender.isSending(alert) || isUnheard(alert)) continue
      if (!sender.hasRoom) break
      const claimed = { ...alert, claim: { node: scheduler.schedulerInstanceId, atMs: nowMs } }
      if (await book.change(claimed)) sender.raised(claimed)
    }
    // Who silences an alert knows of it, sent or not: only one that is being sent is still to be heard of.
    const isNormal = alerts.every((alert) => isSilenced(alert, silences) && alert.claim === null)
    if (!this.#owesNormal || !isNormal || this.#raised.size > 0) return
    this.#owesNormal = false
    sender.normal()
  }

  #storeAnswers(): void {
    if (this.#isStoreAwayTold) {
      this.#parts.sender.tell('resolved', 'Over: the job store answers again.', this.#storeAlert(''))
    }
    this.#storeAway = null
    this.#isStoreAwayTold = false
  }

  #storeFails(error: unknown): void {
    const { book, clock, logger } = this.#parts
    if (this.#storeAway === null) {
      const nowMs = clock.elapsedMs()
      const askedMs = book.failedAskedMs ?? nowMs
      this.#storeAway = { sinceMs: clock.now() - (nowMs - askedMs), askedMs, error }
      logThrown(logger, error, 'Alerts cannot be looked after, because the job store fails.', {}, 'warn')
    }
    const leftMs = this.#awayLeftMs()
    if (leftMs !== null && leftMs <= 0) this.#tellStoreAway(this.#storeAway, error)
  }

  /** How long the store may still fail until that is told; null while it does not fail, and when it is told. */
  #awayLeftMs(): number | null {
    const { clock, storeAwayMs } = this.#parts
    if (this.#storeAway === null || this.#isStoreAwayTold) return null
    return storeAwayMs - (clock.elapsedMs() - this.#storeAway.askedMs)
  }

  #tellStoreAway({ askedMs }: StoreAway, error: unknown): void {
    this.#isStoreAwayTold = true
    const failedMs = Math.round(this.#parts.clock.elapsedMs() - askedMs)
    const message = `The job store has failed for ${failedMs} ms: ${withoutSecrets(textOf(error))}`
    this.#parts.sender.tell('raised', message, this.#storeAlert(message))
  }

  /** Waits for an answer of the store; where it has failed before, no longer than it may fail before that is told. */
  async #toldOfSilence<Answer>(asking: Promise<Answer>): Promise<Answer> {
    const [away, leftMs] = [this.#storeAway, this.#awayLeftMs()]
    const tell = (): void => {
      if (away !== null) this.#tellStoreAway(away, away.error)
    }
    if (leftMs !== null) {
      this.#hanging = this.#parts.clock.setTimer(Math.max(leftMs, silentMs), tell, { unref: true })
    }
    try {
      return await asking
    } finally {
      this.#hanging?.cancel()
    }
  }

  #storeAlert(message: string): AlertNotice['alert'] {
    const { clock, scheduler } = this.#parts
    const node = scheduler.schedulerInstanceId
    const sinceMs = this.#storeAway?.sinceMs ?? clock.now()
    const id = alertIdOf(storeRule, node)
    return { id, rule: storeRule, subject: node, message, sinceMs, lastTimeMs: clock.now(), node }
  }
}

/** How long a watched rule is not to raise an alert for it to be over; null for a rule that is checked. */
function quietMsOf(rule: AlertRule | undefined): number | null {
  return rule === undefined || rule.check !== undefined ? null : (rule.quietMs ?? defaultQuietMs)
}

/** What else a rule answers is a failure of that rule, and not of the store. @throws TypeError */
function requireFindings(found: unknown): AlertFindings {
  if (!Array.isArray(found)) throw new TypeError('a rule must answer a list of findings')
  return found.map(requireFinding)
}

function requireFinding(found: unknown): AlertFinding {
  const textOrNull = (name: string): string | null => {
    const text: unknown = isObject(found) ? Reflect.get(found, name) : null
    return typeof text === 'string' ? text : null
  }
  const [subject, message] = [textOrNull('subject'), textOrNull('message')]
  // Mails and other services keep what they are sent.
  if (subject !== null && message !== null) return { subject, message: withoutSecrets(message) }
  throw new TypeError("a finding must be an object with 'subject' and 'message', which are texts")
}
