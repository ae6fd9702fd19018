/** The fields of the driver's errors by which they are judged. */
export interface ErrorFields {
  readonly code?: string
  readonly severity?: string
  /** The function of the server that has raised it. */
  readonly routine?: string
}

/** Texts alone, so that a thread can send them. */
export function fieldsOf(error: unknown): ErrorFields {
  const given: Partial<Record<keyof ErrorFields, unknown>> =
    typeof error === 'object' && error !== null ? error : {}
  const { code, severity, routine } = given
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof severity === 'string' && { severity }),
    ...(typeof routine === 'string' && { routine }),
  }
}
