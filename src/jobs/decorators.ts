type AnyClass = abstract new (...parameters: never[]) => object

/**
 * Class decorator: no two executions of one job key at the same time. Subclasses inherit it. Works as a standard
 * decorator and under `experimentalDecorators`.
 */
export function DisallowConcurrentExecution(target: AnyClass): void {
  setFlag(target, 'disallowConcurrentExecution')
}

/**
 * Class decorator: store what the job left in `context.jobDetail.jobDataMap`. Subclasses inherit it. Goes well with
 * {@link DisallowConcurrentExecution}, or two executions overwrite each other's data.
 */
export function PersistJobDataAfterExecution(target: AnyClass): void {
  setFlag(target, 'persistJobDataAfterExecution')
}

function setFlag(target: AnyClass, name: string): void {
  Object.defineProperty(target, name, { value: true, configurable: true, writable: true })
}
