import type { PiscinaTask, PiscinaTaskQueue } from './piscina-module.ts'

/** Tasks that piscina keeps until a thread is free. Unlike its own queues, this one can give a task back. */
export class WorkerTaskQueue implements PiscinaTaskQueue {
  readonly #tasks: PiscinaTask[] = []

  get size(): number {
    return this.#tasks.length
  }

  push(task: PiscinaTask): void {
    this.#tasks.push(task)
  }

  unshift(task: PiscinaTask): void {
    this.#tasks.unshift(task)
  }

  shift(): PiscinaTask | null {
    return this.#tasks.shift() ?? null
  }

  remove(task: PiscinaTask): void {
    this.#take(this.#tasks.indexOf(task))
  }

  /** Takes out the last task; null when none waits. */
  pop(): PiscinaTask | null {
    return this.#tasks.pop() ?? null
  }

  /** Takes out the task that matches; does nothing when none does. */
  removeWhere(matches: (task: PiscinaTask) => boolean): void {
    this.#take(this.#tasks.findIndex(matches))
  }

  #take(index: number): void {
    if (index >= 0) this.#tasks.splice(index, 1)
  }
}
