import type { RuleCheck } from '../health/health-rules.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Clock, EpochMs } from '../time/clock.ts'

/** Something that is the matter, as a rule sees it. */
export interface AlertFinding {
  /** What it is about, as the key of a job: tells the alerts of one rule apart. Empty for a rule of one alert. */
  readonly subject: string
  /** For people. */
  readonly message: string
}

/** What a rule watches on a node. */
export interface AlertWatch {
  readonly scheduler: Scheduler
  readonly clock: Clock
}

/** What is looked for. A rule has `check` or `watch`. */
export interface AlertRule {
  /** Unique among the rules of a plugin. */
  readonly name: string
  /** For people: when the rule raises an alert. */
  readonly description: string
  /** Answers what is the matter now; asked on one node of the cluster at a time. What it no longer answers is over. */
  check?(check: RuleCheck): Promise<readonly AlertFinding[]>
  /**
   * Calls `raise` for what happens on this node; answers a function that ends it, which is called at the shutdown and
   * not waited for. Called on every node. It is not waited for, so one that answers a promise fails the start.
   */
  watch?(watch: AlertWatch, raise: (finding: AlertFinding) => void): () => unknown
  /** What `watch` has raised is over when it was not raised again for so long. Milliseconds, default 900,000. */
  readonly quietMs?: number
}

/** An alert that is not over. */
export interface ActiveAlert extends AlertFinding {
  /** Unique among active alerts. */
  readonly id: string
  readonly rule: string
  /** The instant at which it was raised first. */
  readonly sinceMs: EpochMs
  /** When it was raised last, about. */
  readonly lastTimeMs: EpochMs
  /** The instance id of the node that raised it. */
  readonly node: string
  /** False while its notice waits to be sent, is silenced, or is given up. */
  readonly isSent: boolean
  /** Whether no channel could send its notice, which is not tried again. */
  readonly isGivenUp: boolean
}

/** What a channel sends. */
export interface AlertNotice {
  /** `normal` is sent after `resolved` when no alert is left but silenced ones; `test` when somebody asked for it. */
  readonly kind: 'raised' | 'resolved' | 'normal' | 'test'
  /** The same for each attempt to send the same notice. */
  readonly id: string
  readonly scheduler: string
  /** The instance id of the node that sends it. */
  readonly node: string
  readonly atMs: EpochMs
  /** Null for `normal` and `test`. */
  readonly alert: Omit<ActiveAlert, 'isSent' | 'isGivenUp'> | null
  /** One line for people. */
  readonly text: string
}

/** A way to reach somebody. */
export interface AlertChannel {
  /** Unique among the channels of a plugin. */
  readonly name: string
  /** Rejects when the notice did not arrive: it is tried again. `signal` is aborted when that took too long. */
  send(notice: AlertNotice, signal: AbortSignal): Promise<void>
  /**
   * Called at the shutdown, after the last notice, and when the scheduler could not be made. The shutdown waits for it,
   * for two seconds at most. Where the plugin is then given to another scheduler, `send` is called again.
   */
  close?(): void | Promise<void>
}

/** Alerts that are not to be sent for a while. */
export interface AlertSilence {
  readonly id: string
  /** Null for every rule. */
  readonly rule: string | null
  /** Null for every subject. */
  readonly subject: string | null
  readonly untilMs: EpochMs
  readonly by: string
  readonly reason: string
}
