import { unawaited } from '../../core/promises.ts'
import type { ClockTimer } from '../../time/clock.ts'
import type { JobStoreContext } from '../job-store.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import { first, type SqlProgram, type SqlRow } from '../sql/kernel/statement.ts'
import { integer } from '../sql/tables/encoding/columns.ts'
import { postgresDialect } from './postgres-dialect.ts'

const everyMs = 60_000

/**
 * Measures the database's time while no check-ins do: before the start, and for a scheduler that is never started. What
 * it stores then goes by that time, whatever the machine's clock says.
 */
export class StoreClock {
  readonly #runner: SqlRunner
  readonly #context: Pick<JobStoreContext, 'clock' | 'signaler'>
  #timer: ClockTimer | null = null
  #isOver = false

  constructor(runner: SqlRunner, context: Pick<JobStoreContext, 'clock' | 'signaler'>) {
    this.#runner = runner
    this.#context = context
  }

  /** Measures at once, and each minute from then on. @throws JobPersistenceError when it cannot measure at once */
  async start(): Promise<void> {
    await this.#measure()
    this.#measureLater()
  }

  stop(): void {
    this.#isOver = true
    this.#timer?.cancel()
  }

  #measureLater(): void {
    if (this.#isOver) return
    const again = (): void => {
      // An outage is told of by what needs the store.
      const ended = (): void => {
        this.#measureLater()
      }
      unawaited(this.#measure().then(ended), ended)
    }
    this.#timer = this.#context.clock.setTimer(everyMs, again, { unref: true })
  }

  async #measure(): Promise<void> {
    const { clock, signaler } = this.#context
    const askedMs = clock.elapsedMs()
    const row = await this.#runner.read(storeTime)
    const tookMs = clock.elapsedMs() - askedMs
    if (this.#isOver || row === null) return
    signaler.clockOffsetMeasured(integer(row, 'now_ms') + tookMs / 2 - clock.now(), tookMs / 2)
  }
}

function* storeTime(): SqlProgram<SqlRow | null> {
  return yield* first({ text: `SELECT ${postgresDialect.nowMs} AS now_ms`, values: [] })
}
