export const cronDialects = ['quartz', 'unix', 'spring'] as const

/**
 * `quartz`: six or seven fields, 1=SUN. `unix`: five fields, 0 and 7=SUN, or a macro such as `@daily`. `spring`: six
 * fields, 0 and 7=SUN, a day must match both day fields; or a macro.
 */
export type CronDialect = (typeof cronDialects)[number]

/** The dialect that an expression is meant in: macros and up to five fields are Unix's, and the rest Quartz's. */
export function dialectOf(expression: string): CronDialect {
  const text = expression.trim()
  return text.startsWith('@') || text.split(/\s+/).length <= 5 ? 'unix' : 'quartz'
}
