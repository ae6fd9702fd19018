import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import type { AcquiredTrigger } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import {
  nextTriggerState,
  reportedTriggerState,
  type StoredTriggerState,
  storedTriggerStates,
  type TriggerAction,
  triggerActions,
  triggerTransitions,
} from '../../src/jobstore/trigger-state.ts'
import { jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

describe('the transition table', () => {
  test('reaches every state from WAITING, and WAITING from every state', () => {
    for (const start of storedTriggerStates) {
      const reached = new Set<StoredTriggerState>([start])
      for (const state of reached) {
        for (const action of triggerActions) reached.add(nextTriggerState(state, action) ?? state)
      }
      expect([...reached].sort()).toEqual([...storedTriggerStates].sort())
    }
  })

  test('undoes block by unblock and pause by resume, except for a claim', () => {
    for (const state of storedTriggerStates) {
      const kept = state === 'ACQUIRED' ? 'WAITING' : state
      const blocked = nextTriggerState(state, 'block')
      if (blocked !== null) expect(nextTriggerState(blocked, 'unblock')).toBe(kept)
      const paused = nextTriggerState(state, 'pause')
      if (paused !== null) expect(nextTriggerState(paused, 'resume')).toBe(kept)
    }
  })

  test('lets nothing but a completed trigger be revived, an erroneous one be reset, a waiting one be claimed', () => {
    expect(Object.keys(triggerTransitions.revive)).toEqual(['COMPLETE'])
    expect(Object.keys(triggerTransitions.reset)).toEqual(['ERROR'])
    expect(Object.keys(triggerTransitions.acquire)).toEqual(['WAITING'])
  })
})

/** One trigger, the claim on it, and an execution of its job under another trigger, which gives instructions. */
class Subject {
  readonly bed = new Testbed(new RAMJobStore(), new ManualClock(), 'node')
  readonly #job
  #claim: AcquiredTrigger | null = null
  #helper: TriggerFiredBundle | null = null
  #helpers = 0

  constructor(options: { readonly disallowConcurrentExecution: boolean }) {
    this.#job = jobDetail('job', { durable: true, ...options })
  }

  get isJobBlocked(): boolean {
    return this.#job.disallowConcurrentExecution && this.#helper !== null
  }

  async store(): Promise<void> {
    await this.bed.store.initialize(this.bed.context)
    await this.bed.schedule('subject', { job: this.#job, everyMs: 1000 })
  }

  /** Stores the subject again, due now. */
  async restart(): Promise<void> {
    const trigger = this.bed.trigger('subject', { job: this.#job, everyMs: 1000 })
    await this.bed.store.rescheduleTrigger(trigger.key, trigger)
  }

  /** Does to the stored trigger what the action stands for; false when there is no way to do it now. */
  async act(action: TriggerAction): Promise<boolean> {
    const { store } = this.bed
    const { key } = this.bed.trigger('subject')
    switch (action) {
      case 'acquire': {
        const [claim = null] = await this.bed.acquire()
        if (claim !== null) this.#claim = claim
        return true
      }
      case 'release':
        if (this.#claim !== null) await store.releaseAcquiredTriggers([this.#claim])
        return this.#claim !== null
      case 'fire':
        return this.#fire()
      case 'block':
        return this.#runHelper()
      case 'unblock':
        return this.#endHelper('deleteTrigger')
      case 'pause':
        return store.pauseTrigger(key)
      case 'resume':
        return store.resumeTrigger(key)
      case 'complete':
        return this.#endHelper('setAllJobTriggersComplete')
      case 'fail':
        return this.#endHelper('setAllJobTriggersError')
      case 'reset':
        await store.resetTriggerFromErrorState(key)
        return true
      case 'fireLast':
      case 'revive':
        return false
    }
  }

  async #fire(): Promise<boolean> {
    if (this.#claim === null || this.#job.disallowConcurrentExecution) return false
    const [result] = await this.bed.store.triggersFired([this.#claim])
    if (result?.kind === 'fired') {
      await this.bed.complete(result.bundle)
      await this.bed.clock.advance(1000)
    }
    return true
  }

  async #runHelper(): Promise<boolean> {
    if (this.#helper !== null) return false
    const name = `helper-${String(++this.#helpers)}`
    await this.bed.schedule(name, { job: this.#job, inMs: -10_000, priority: 9 })
    const [claim] = await this.bed.acquire({ maxCount: 1 })
    if (claim?.trigger.key.name === name) {
      this.#helper = await this.bed.fire(claim)
      return true
    }
    // The job is taken by the claim on the subject itself.
    await this.bed.store.deleteTriggers([this.bed.trigger(name).key])
    return false
  }

  async #endHelper(
    instruction: 'deleteTrigger' | 'setAllJobTriggersComplete' | 'setAllJobTriggersError',
  ): Promise<boolean> {
    if (this.#helper === null) return false
    await this.bed.complete(this.#helper, instruction)
    await this.bed.store.deleteTriggers([this.#helper.trigger.key])
    this.#helper = null
    return true
  }
}

/** Where the table leads; block and unblock follow from whether the job runs, whatever else the action was. */
function expected(
  state: StoredTriggerState,
  action: TriggerAction,
  isJobBlocked: boolean,
): StoredTriggerState {
  const isAboutJob = action === 'block' || action === 'unblock'
  const after = isAboutJob ? state : (nextTriggerState(state, action) ?? state)
  return nextTriggerState(after, isJobBlocked ? 'block' : 'unblock') ?? after
}

describe('the RAM store goes where the table says', () => {
  const kinds = [{ disallowConcurrentExecution: false }, { disallowConcurrentExecution: true }]
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8]
  test.each(kinds.flatMap((kind) => seeds.map((seed) => ({ ...kind, seed }))))(
    'on a walk of 500 actions (disallowConcurrentExecution $disallowConcurrentExecution, seed $seed)',
    async ({ seed, disallowConcurrentExecution }) => {
      const ids = seededIds(seed)
      const subject = new Subject({ disallowConcurrentExecution })
      await subject.store()
      let state: StoredTriggerState = 'WAITING'
      const seen = new Set<StoredTriggerState>([state])
      for (let step = 0; step < 500; step++) {
        // An ended trigger would stay so for the rest of the walk.
        if (state === 'COMPLETE') {
          await subject.restart()
          state = subject.isJobBlocked ? 'BLOCKED' : 'WAITING'
        }
        const action = triggerActions[Math.floor(ids.random() * triggerActions.length)] ?? 'acquire'
        const before: StoredTriggerState = state
        if (await subject.act(action)) state = expected(state, action, subject.isJobBlocked)
        seen.add(state)
        const reported = await subject.bed.state('subject')
        assert.equal(reported, reportedTriggerState(state), `${before} -> ${action} (step ${step})`)
      }
      const never = disallowConcurrentExecution ? [] : ['BLOCKED', 'PAUSED_BLOCKED']
      expect(storedTriggerStates.filter((each) => !seen.has(each))).toEqual(never)
    },
  )
})
