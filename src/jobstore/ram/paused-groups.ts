/** The remembered groups: triggers stored later in these groups start paused. */
export class PausedGroups {
  readonly triggerGroups: Set<string> = new Set<string>()
  readonly jobGroups: Set<string> = new Set<string>()
  /** `pauseAll` is in force: a new trigger group is remembered as paused. */
  everyNewTriggerGroup = false

  /** Whether neither the trigger group nor the job group is remembered as paused. */
  areClear(triggerGroup: string, jobGroup: string): boolean {
    return !this.triggerGroups.has(triggerGroup) && !this.jobGroups.has(jobGroup)
  }

  clear(): void {
    this.triggerGroups.clear()
    this.jobGroups.clear()
    this.everyNewTriggerGroup = false
  }
}
