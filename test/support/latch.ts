/** A promise that others resolve. */
export interface Latch<Value = void> {
  readonly promise: Promise<Value>
  readonly open: (value: Value) => void
}

export function latch<Value = void>(): Latch<Value> {
  let open: (value: Value) => void = () => {}
  const promise = new Promise<Value>((resolve) => {
    open = resolve
  })
  return { promise, open }
}
