/** What a class decorator stands above. */
export type DecoratedClass = abstract new (...parameters: never[]) => object

/**
 * Class decorator: no two executions of one job key at the same time. Subclasses inherit it. Works as a standard
 * decorator and under `experimentalDecorators`.
 */
export function DisallowConcurrentExecution(target: DecoratedClass): void {
  setFlag(target, 'disallowConcurrentExecution')
}

/**
 * Class decorator: store what the job left in `context.jobDetail.jobDataMap`. Subclasses inherit it. Goes well with
 * {@link DisallowConcurrentExecution}, or two executions overwrite each other's data.
 */
export function PersistJobDataAfterExecution(target: DecoratedClass): void {
  setFlag(target, 'persistJobDataAfterExecution')
}

function setFlag(target: DecoratedClass, name: string): void {
  Object.defineProperty(target, name, { value: true, configurable: true, writable: true })
}
