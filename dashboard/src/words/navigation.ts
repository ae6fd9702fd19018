import { dictionary } from './dictionary.ts'

const en = {
  overview: 'Overview',
  jobs: 'Jobs',
  triggers: 'Triggers',
  running: 'Running',
  history: 'History',
  cron: 'Cron',
  timeline: 'Timeline',
  calendars: 'Calendars',
  misfires: 'Misfires',
  nodes: 'Nodes',
  executors: 'Executors',
  groups: 'Groups',
  audit: 'Audit',
  users: 'Users and tokens',
  settings: 'Settings',
}

export type NavigationWords = typeof en

/** The names of the pages. */
export const navigation = dictionary<NavigationWords>({
  en,
  zh: {
    overview: '概览',
    jobs: '作业',
    triggers: '触发器',
    running: '运行中',
    history: '历史',
    cron: 'Cron',
    timeline: '时间线',
    calendars: '日历',
    misfires: '错过触发',
    nodes: '节点',
    executors: '执行器',
    groups: '分组',
    audit: '审计',
    users: '用户与令牌',
    settings: '设置',
  },
})
