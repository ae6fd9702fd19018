import type { EpochMs } from '../../time/clock.ts'
import type { SchedulerSignaler } from '../scheduler-signaler.ts'

/** Called when other connections may have let a trigger fire earlier. */
export function watchedSignaler(
  signaler: SchedulerSignaler,
  onChange: (candidateMs: EpochMs | null) => void,
): SchedulerSignaler {
  const schedulingChanged = (candidateMs: EpochMs | null): void => {
    onChange(candidateMs)
    signaler.schedulingChanged(candidateMs)
  }
  return new Proxy(signaler, {
    get(target, name) {
      if (name === 'schedulingChanged') return schedulingChanged
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
