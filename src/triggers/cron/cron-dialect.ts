export const cronDialects = ['quartz', 'unix', 'spring'] as const

/**
 * `quartz`: six or seven fields, 1=SUN. `unix`: five fields, 0 and 7=SUN, or a macro such as `@daily`. `spring`: six
 * fields, 0 and 7=SUN, a day must match both day fields; or a macro.
 */
export type CronDialect = (typeof cronDialects)[number]
