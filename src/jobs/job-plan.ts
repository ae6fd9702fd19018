/**
 * What a job was last declared to be, by `schedule` or in a set of schedules. It is compared with what is declared
 * next, so that what is the same is left alone, whatever has become of the job meanwhile.
 */
export interface JobPlan {
  /** The set of schedules that the job belongs to; null when it belongs to none. */
  readonly set: string | null
  /** How often the set had changed when it declared the job; 0 without a set. */
  readonly generation: number
  /** A digest of the job without its data. */
  readonly job: string
  /** A digest of when it runs. */
  readonly when: string
  /** A digest of the instant of a job that runs once, however that was written; plans of former releases lack it. */
  readonly instant?: string
  /** The last time by its schedule, in epoch milliseconds, when it has an end; plans of former releases lack it. */
  readonly final?: number
  /** The last fire time under the key of which its trigger may tell nothing. */
  readonly fired?: number
  /** A digest of each entry of its data. */
  readonly data: Readonly<Record<string, string>>
}
