import { Turn } from '../../src/executors/turn.ts'

/** A bug of executors, put in by changing what is asked before each task. */
export interface KnownTurnBug {
  readonly name: string
  /** It shows where at least so many tasks run at a time. */
  readonly slots: number
  /** Puts the bug in; answers what takes it out again. */
  plant(): () => void
}

function planted(changed: Partial<Pick<Turn, 'resume' | 'goesOn'>>): () => void {
  const { prototype } = Turn
  const { resume, goesOn } = prototype
  Object.assign(prototype, changed)
  return () => {
    Object.assign(prototype, { resume, goesOn })
  }
}

const everyPromise: KnownTurnBug = {
  name: 'Each promise that settles brings a time of its own',
  slots: 1,
  plant: () =>
    planted({
      resume(this: Turn) {
        this.begin()
      },
    }),
}

const everyPromiseAfterTheEnd: KnownTurnBug = {
  name: 'A promise that settles after the time is over begins another turn',
  slots: 2,
  plant: () => {
    const over = new WeakSet<Turn>()
    const { resume, goesOn } = Turn.prototype
    return planted({
      goesOn(this: Turn) {
        const answer = goesOn.call(this)
        if (!answer) over.add(this)
        return answer
      },
      resume(this: Turn) {
        if (over.delete(this)) this.begin()
        else resume.call(this)
      },
    })
  },
}

const endless: KnownTurnBug = {
  name: 'Tasks run for as long as any is due',
  slots: 1,
  plant: () => {
    const { goesOn } = Turn.prototype
    return planted({
      goesOn(this: Turn) {
        // It keeps the time, and forgets the end.
        goesOn.call(this)
        return true
      },
    })
  },
}

/** Ways in which the event loop has stood still beside tasks. */
export const knownTurnBugs: readonly KnownTurnBug[] = [everyPromise, everyPromiseAfterTheEnd, endless]
