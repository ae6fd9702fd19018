import { AsyncLocalStorage } from 'node:async_hooks'
import type { SqlRunner, TransactionOptions } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlProgram, SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import type { SqlTransactor } from '../../src/jobstore/sql/session/sql-transactor.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'

/**
 * Runs every program as the runner behind it does, counts what passes while it watches an action, and puts other
 * statements in the way. What the store does by itself meanwhile, such as pruning, passes unseen.
 */
export class StepRunner implements SqlRunner {
  /** Since the last call of {@link StepRunner.count}. */
  statements = 0
  /** Those that their program waits for: each is a round trip, as the commit is. */
  awaited = 0
  transactions = 0
  /** Whether reads outside of transactions pass unseen. */
  passesReads = false
  /** Stands for a statement when it answers one; `step` counts from 1 on. */
  replace: ((step: number, statement: SqlStatement) => SqlStatement | null) | null = null
  /** Runs as the last statement of each attempt at a transaction. */
  atEnd: (() => SqlStatement | null) | null = null
  readonly inner: SqlRunner
  readonly #action = new AsyncLocalStorage<true>()

  constructor(inner: SqlRunner) {
    this.inner = inner
  }

  transact<Answer>(begin: () => SqlProgram<Answer>, options: TransactionOptions): Promise<Answer> {
    if (!this.#isWatching) return this.inner.transact(begin, options)
    this.transactions++
    return this.inner.transact(() => this.#steps(begin(), true), options)
  }
  read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    const isWatched = this.#isWatching && !this.passesReads
    return this.inner.read(isWatched ? () => this.#steps(begin(), false) : begin)
  }
  close(): Promise<void> {
    return this.inner.close()
  }

  /** How many statements and transactions an action takes. */
  async count(
    action: () => Promise<unknown>,
  ): Promise<{ statements: number; awaited: number; transactions: number }> {
    this.statements = 0
    this.awaited = 0
    this.transactions = 0
    await this.watch(action)
    return { statements: this.statements, awaited: this.awaited, transactions: this.transactions }
  }

  /**
   * Carries out an action whose statements are counted and replaced. Each AsyncLocalStorage that is left in use makes
   * every later promise of the process slower, also in the files that the same worker runs after this one.
   */
  async watch<Answer>(action: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#action.run(true, action)
    } finally {
      this.#action.disable()
    }
  }

  get #isWatching(): boolean {
    return this.#action.getStore() === true
  }

  *#steps<Answer>(program: SqlProgram<Answer>, isWriting: boolean): SqlProgram<Answer> {
    let step = program.next()
    while (step.done !== true) {
      this.statements++
      if (step.value.pending === undefined) this.awaited++
      step = program.next(yield this.replace?.(this.statements, step.value) ?? step.value)
    }
    const last = isWriting ? (this.atEnd?.() ?? null) : null
    if (last !== null) yield last
    return step.value
  }
}

export interface SteppedEngine {
  readonly engine: SqlEngine
  /** There once the store is initialized. */
  readonly runner: () => StepRunner
  /** There once the scheduler was started, which does nothing else here. */
  readonly transactor: () => SqlTransactor
}

/** An engine whose statements pass through a {@link StepRunner}, and which takes part in no cluster. */
export function steppedEngine(engine: SqlEngine): SteppedEngine {
  let stepRunner: StepRunner | null = null
  let given: SqlTransactor | null = null
  return {
    engine: {
      ...engine,
      async connect(session) {
        const connection = await engine.connect(session)
        const runner = new StepRunner(connection.runner)
        stepRunner = runner
        return {
          runner,
          start: (transactor) => {
            given = transactor
            return Promise.resolve()
          },
          wakePeers: () => {},
          close: () => connection.close(),
          cutOff: () => {
            connection.cutOff()
          },
        }
      },
    },
    runner: () => there(stepRunner),
    transactor: () => there(given),
  }
}

function there<Thing>(thing: Thing | null): Thing {
  if (thing === null) throw new Error('not there yet')
  return thing
}
