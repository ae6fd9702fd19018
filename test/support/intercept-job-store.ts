import type { JobStoreOperation } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'

export type StoreMethod = JobStoreOperation

/** One call of a store on its way through an interceptor. */
export interface StoreCall {
  readonly method: StoreMethod
  readonly parameters: readonly unknown[]
  /** Carries the call out at the store behind. */
  readonly proceed: () => Promise<unknown>
}

/** Stands in for a failure of a store; the code under test never throws it. */
export class InjectedFailure extends Error {
  override readonly name = 'InjectedFailure'
}

/** A store whose every asynchronous call goes through `around`, which may delay it, refuse it or lose its answer. */
export function interceptJobStore(
  store: JobStore,
  around: (call: StoreCall) => Promise<unknown>,
  changes: Partial<Pick<JobStore, 'acquireRetryDelayMs' | 'capabilities' | 'name'>> = {},
): JobStore {
  return new Proxy(store, {
    get(target, name) {
      if (name in changes) return Reflect.get(changes, name) as unknown
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (name === 'acquireRetryDelayMs' || name === 'requireStorable') return member.bind(target) as unknown
      return (...parameters: readonly unknown[]) =>
        around({
          method: name as StoreMethod,
          parameters,
          proceed: async () => Reflect.apply(member, target, parameters) as unknown,
        })
    },
  })
}
