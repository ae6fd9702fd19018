/** Of a trigger as its builder has made it, beside its fields: what is stored and shown never has it. */
const mark = Symbol.for('quartz-ts/startsNow')

/** Notes that a trigger was given no start, so that its builder took it from the machine's clock. */
export function markStartsNow(trigger: unknown): void {
  if (typeof trigger === 'object' && trigger !== null && Object.isExtensible(trigger)) {
    Object.defineProperty(trigger, mark, { value: true })
  }
}

/** Whether the start of a trigger that was not scheduled yet means "now", and was read from the machine's clock. */
export function startsNow(trigger: object): boolean {
  return mark in trigger
}
