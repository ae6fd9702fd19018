import { signal } from '@preact/signals'
import type { CronDialect } from '../../../src/triggers/cron/cron-dialect.ts'
import { language } from '../state/preferences.ts'
import { unawaited } from '../state/toasts.ts'

/** Loaded when it is first needed; null until then. */
const chinese = signal<((expression: string, dialect: CronDialect) => string) | null>(null)
let isAsked = false

async function loadChinese(): Promise<void> {
  const { cronInChinese } = await import('./cron-chinese.ts')
  chinese.value = cronInChinese
}

/** What an expression means, in the viewer's language; the server says it in English. */
export function cronWords(expression: string, dialect: CronDialect, english: string): string {
  if (language.value !== 'zh') return english
  if (!isAsked) {
    isAsked = true
    unawaited(loadChinese())
  }
  return chinese.value?.(expression, dialect) ?? english
}
