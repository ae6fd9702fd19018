/**
 * What a type of job data must look like: itself, when JSON can hold all of it. A field that JSON cannot hold becomes a
 * text that says what to store instead, so that the compiler shows it.
 *
 * @example
 * function keep<Data extends StorableJobData<Data>>(data: Data): void
 */
export type StorableJobData<Data> = { readonly [Key in keyof Data]: Storable<Data[Key]> }

/** One value of {@link StorableJobData}. */
export type Storable<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends Date
      ? 'Job data cannot hold a Date: store date.toISOString() or date.getTime()'
      : Value extends bigint
        ? 'Job data cannot hold a bigint: store it as a string'
        : Value extends symbol | ((...args: never[]) => unknown)
          ? 'Job data cannot hold functions and symbols: store a name and look the rest up in the job'
          : Value extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | RegExp | ArrayBufferView
            ? 'Job data cannot hold this object: store plain objects, arrays and texts'
            : // The compiler looks into a list only when it needs to, so that a type may hold lists of itself.
              Value extends readonly (infer Item)[]
              ? readonly Storable<Item>[]
              : Value extends object
                ? { readonly [Key in keyof Value]: Storable<Value[Key]> }
                : Value

/** Keys of the required fields, without those of an index signature. */
export type RequiredKeys<Data> = {
  [Key in keyof Data]-?: string extends Key
    ? never
    : Pick<Data, Key> extends Required<Pick<Data, Key>>
      ? Key
      : never
}[keyof Data]

/**
 * What may be given in addition to data that is stored already: some of a type's fields, those of one member for a
 * union, or anything for no type.
 */
export type MoreJobData<Data extends object> = object extends Data
  ? object
  : Data extends unknown
    ? Partial<Data>
    : never
