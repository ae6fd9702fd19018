import { checkThat } from '../core/arguments.ts'

/** What a class decorator stands above. */
export type DecoratedClass = abstract new (...parameters: never[]) => object

/**
 * Class decorator: no two executions of one job key at the same time. Subclasses inherit it. Works as a standard
 * decorator and under `experimentalDecorators`. It stands without parentheses.
 *
 * @throws InvalidArgumentError when it is called with what is no class
 */
export function DisallowConcurrentExecution(target: DecoratedClass): void {
  setFlag('DisallowConcurrentExecution', target, 'disallowConcurrentExecution')
}

/**
 * Class decorator: store what the job left in `context.jobDataMap`. Subclasses inherit it. Goes well with
 * {@link DisallowConcurrentExecution}, or two executions overwrite each other's data. It stands without parentheses.
 *
 * @throws InvalidArgumentError when it is called with what is no class
 */
export function PersistJobDataAfterExecution(target: DecoratedClass): void {
  setFlag('PersistJobDataAfterExecution', target, 'persistJobDataAfterExecution')
}

function setFlag(decorator: string, target: DecoratedClass, name: string): void {
  const remedy = `Write @${decorator} without parentheses, above a class.`
  checkThat('a class', (value) => typeof value === 'function', remedy)(decorator, 'target', target)
  Object.defineProperty(target, name, { value: true, configurable: true, writable: true })
}
