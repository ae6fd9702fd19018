import { expect, test } from 'vitest'
import type { CronDialect } from '../../src/triggers/cron/cron-dialect.ts'

// As text, because the types of what it imports are not in this project.
const module = new URL('../../dashboard/src/words/cron-chinese.ts', import.meta.url).href
const { cronInChinese } = (await import(module)) as {
  cronInChinese: (expression: string, dialect: CronDialect) => string
}

test.each<[string, CronDialect, string]>([
  ['0 0 13 * 5', 'unix', '在 00:00，限每月 13 号，或者星期五'],
  ['0 0 */2 * MON-FRI', 'unix', '在 00:00，每隔 2 天，且仅限星期一至星期五'],
  ['0 0 * * 1,5L', 'unix', '在 00:00，仅星期一和限每月的最后一个星期五'],
  ['0 0 0 13 * FRIL', 'spring', '在 00:00，限每月 13 号，且仅限每月的最后一个星期五'],
  ['0 0 12 1/5,L-2 * ?', 'quartz', '在 12:00，限每月 1-31 号之间每隔 5 天、最后一天之前的第 2 天'],
])('%s in Chinese', (expression, dialect, words) => {
  expect(cronInChinese(expression, dialect)).toBe(words)
})
