/**
 * What a trigger does when it could not fire in time. `smart` lets the trigger family choose; `ignore` fires every
 * missed time in quick succession.
 */
export const simpleMisfireInstructions = [
  'smart',
  'ignore',
  'fireNow',
  'rescheduleNowWithExistingRepeatCount',
  'rescheduleNowWithRemainingRepeatCount',
  'rescheduleNextWithRemainingCount',
  'rescheduleNextWithExistingCount',
] as const
export type SimpleMisfireInstruction = (typeof simpleMisfireInstructions)[number]

/** For cron, calendar-interval and daily-time-interval triggers. */
export const calendarMisfireInstructions = ['smart', 'ignore', 'fireOnceNow', 'doNothing'] as const
export type CalendarMisfireInstruction = (typeof calendarMisfireInstructions)[number]

export type MisfireInstruction = SimpleMisfireInstruction | CalendarMisfireInstruction

const codes: Readonly<Record<MisfireInstruction, number>> = {
  ignore: -1,
  smart: 0,
  fireNow: 1,
  rescheduleNowWithExistingRepeatCount: 2,
  rescheduleNowWithRemainingRepeatCount: 3,
  rescheduleNextWithRemainingCount: 4,
  rescheduleNextWithExistingCount: 5,
  fireOnceNow: 1,
  doNothing: 2,
}

/** Quartz's number for an instruction, as databases keep it. */
export function misfireInstructionCode(instruction: MisfireInstruction): number {
  return codes[instruction]
}

/** The instruction that a Quartz number means for a trigger family, or null when it means none. */
export function misfireInstructionOf<Instruction extends MisfireInstruction>(
  known: readonly Instruction[],
  code: number,
): Instruction | null {
  return known.find((instruction) => codes[instruction] === code) ?? null
}
