import 'cronstrue/locales/zh_CN'
import type { CronDialect } from '../../../src/triggers/cron/cron-dialect.ts'
import { type CronWording, describeCron } from '../../../src/triggers/cron/describe.ts'

const chineseCron: CronWording = {
  locale: 'zh_CN',
  onDays: (days) => `, 限每月${days.join('、')}`,
  day: (day) => ` ${day} 号`,
  days: (range, step) => (step === '' ? ` ${range} 号` : ` ${range} 号之间每隔 ${step} 天`),
  lastDay: () => '最后一天',
  beforeLastDay: (days) => `最后一天之前的第 ${days} 天`,
  weekdayNear: (day) => `最接近 ${day} 号的工作日`,
  lastWeekday: () => '最后一个工作日',
  weekdayNearBeforeLast: (days) => `最接近最后一天之前第 ${days} 天的工作日`,
  orWeekdays: (weekdays) => `, 或者${weekdays.replace(/^[仅和限]/, '')}`,
  andWeekdays: (weekdays) => `, 且仅限${weekdays.replace(/^[仅和限]/, '')}`,
}

/** A cron expression in Chinese, with the marks and spaces of Chinese. */
export function cronInChinese(expression: string, dialect: CronDialect): string {
  return describeCron(expression, dialect, chineseCron)
    .replace(/, /g, '，')
    .replace(/([一-鿿，])\s+(?=[一-鿿])/g, '$1')
    .replace(/([一-鿿])(?=\d)/g, '$1 ')
    .replace(/(\d)(?=[一-鿿])/g, '$1 ')
    .replace(/ {2,}/g, ' ')
    .trim()
}
