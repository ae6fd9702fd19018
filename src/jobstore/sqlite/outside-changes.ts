import { unawaited } from '../../core/promises.ts'
import type { Clock, ClockTimer } from '../../time/clock.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import { first } from '../sql/kernel/statement.ts'
import { integer } from '../sql/tables/encoding/columns.ts'

/** SQLite does not notify other connections of a commit; a look takes a few microseconds. */
const lookEveryMs = 250

/** Notices that another connection has changed the file, so that triggers of another process fire soon. */
export class OutsideChanges {
  readonly #runner: SqlRunner
  readonly #clock: Clock
  readonly #onChange: () => void
  #timer: ClockTimer | null = null
  #seen: number | null = null
  #isStarted = false
  #isStopped = false

  constructor(runner: SqlRunner, clock: Clock, onChange: () => void) {
    this.#runner = runner
    this.#clock = clock
    this.#onChange = onChange
  }

  /** Commits after this call are noticed. */
  async start(): Promise<void> {
    if (this.#isStarted) return
    this.#isStarted = true
    await this.#look()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #lookLater(): void {
    const look = (): void => {
      unawaited(this.#look(), () => {
        this.#lookLater()
      })
    }
    this.#timer = this.#clock.setTimer(lookEveryMs, look, { unref: true })
  }

  async #look(): Promise<void> {
    try {
      // A number of this connection that changes with commits of other connections only.
      const row = await this.#runner.read(() => first({ text: 'PRAGMA data_version', values: [] }))
      const version = row === null ? null : integer(row, 'data_version')
      if (this.#seen !== null && version !== this.#seen && !this.#isStopped) this.#onChange()
      this.#seen = version
    } catch {
      // A file that cannot be read is for the operations to tell; this looks again.
    }
    if (!this.#isStopped) this.#lookLater()
  }
}
