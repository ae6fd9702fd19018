import type { EpochMs } from '../../time/clock.ts'

/** How far ahead to look for a time that a calendar includes. */
export const searchHorizonMs: number = 36_525 * 86_400_000

/**
 * How often a search asks a calendar before the answer is "never", all calendars of a chain and all fire times
 * together. A hundred years of days fit. The bound stops calendars that contradict each other, or a schedule that never
 * meets an included time: without it such a search could take minutes.
 */
const maxQuestions = 50_000

/** One search for an included time: how far it goes, and how many questions it has left. */
export class CalendarSearch {
  readonly horizonMs: EpochMs
  #left = maxQuestions

  constructor(fromMs: EpochMs) {
    this.horizonMs = fromMs + searchHorizonMs
  }

  /** Counts one question to a calendar; false when there were too many. */
  mayAsk(): boolean {
    return this.mayPass(1)
  }

  /** The same for so many questions whose answers are known. */
  mayPass(questions: number): boolean {
    this.#left -= questions
    return this.#left >= 0
  }
}
