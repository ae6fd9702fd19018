import { LoopTurn, Turn } from '../../src/executors/turn.ts'
import { replaceMethod } from './replace-method.ts'

/** A bug of executors, put in by changing what is asked before each task. */
export interface KnownTurnBug {
  readonly name: string
  /** It shows where at least so many tasks run at a time. */
  readonly slots: number
  /** It shows where there are at least so many executors. */
  readonly executors: number
  /** Puts the bug in; answers what takes it out again. */
  plant(): () => void
}

/** Whatever asks for a time of its own gets one. */
function plantNewTimes(): () => void {
  return replaceMethod(
    LoopTurn.prototype,
    'enter',
    () =>
      function (this: LoopTurn, _clock, nowMs) {
        this.endMs = nowMs + 5
        return true
      },
  )
}

const everyAlarm: KnownTurnBug = {
  name: 'Each alarm that rings brings a time of its own',
  slots: 1,
  executors: 50,
  plant: plantNewTimes,
}

const everyPromise: KnownTurnBug = {
  name: 'Each promise that settles brings a time of its own',
  slots: 1,
  executors: 1,
  plant: () => {
    const restoreTimes = plantNewTimes()
    const restoreResume = replaceMethod(
      Turn.prototype,
      'resume',
      () =>
        function (this: Turn) {
          this.begin()
        },
    )
    return () => {
      restoreResume()
      restoreTimes()
    }
  },
}

const everyPromiseAfterTheEnd: KnownTurnBug = {
  name: 'A promise that settles after the time is over begins another turn',
  slots: 2,
  executors: 1,
  plant: () => {
    const over = new WeakSet<Turn>()
    const restoreTimes = plantNewTimes()
    const restoreEnd = replaceMethod(
      Turn.prototype,
      'goesOn',
      (original) =>
        function (this: Turn) {
          const goesOn = original.call(this)
          if (!goesOn) over.add(this)
          return goesOn
        },
    )
    const restoreBegin = replaceMethod(
      Turn.prototype,
      'resume',
      (original) =>
        function (this: Turn) {
          if (over.delete(this)) this.begin()
          else original.call(this)
        },
    )
    return () => {
      restoreEnd()
      restoreBegin()
      restoreTimes()
    }
  },
}

const endless: KnownTurnBug = {
  name: 'Tasks run for as long as any is due',
  slots: 1,
  executors: 1,
  plant: () =>
    replaceMethod(
      Turn.prototype,
      'goesOn',
      (original) =>
        function (this: Turn) {
          // It keeps the time, and forgets the end.
          original.call(this)
          return true
        },
    ),
}

/** Ways in which the event loop has stood still beside tasks. */
export const knownTurnBugs: readonly KnownTurnBug[] = [
  everyAlarm,
  everyPromise,
  everyPromiseAfterTheEnd,
  endless,
]
