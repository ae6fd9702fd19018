import type { MisfireCause, MisfirePolicy } from '../../../../src/jobstore/misfires.ts'
import { dictionary } from '../../words/dictionary.ts'

const causesEn: Readonly<Record<MisfireCause, string>> = {
  outage: 'Outage',
  poolFull: 'No free thread',
  blocked: 'Job still running',
  late: 'Late',
  paused: 'Paused',
  calendar: 'Calendar changed',
  skippedByHand: 'Skipped by hand',
  vetoed: 'Vetoed',
  lost: 'Lost with its node',
}

const causesZh: Readonly<Record<MisfireCause, string>> = {
  outage: '停机',
  poolFull: '无空闲线程',
  blocked: '作业仍在运行',
  late: '延迟',
  paused: '已暂停',
  calendar: '日历已更改',
  skippedByHand: '手动跳过',
  vetoed: '被否决',
  lost: '随节点丢失',
}

const policiesEn: Readonly<Record<MisfirePolicy, string>> = {
  skipped: 'Left out',
  coalesced: 'One firing stands for all',
  postponed: 'Made up for later',
}

const policiesZh: Readonly<Record<MisfirePolicy, string>> = {
  skipped: '略过',
  coalesced: '合并为一次触发',
  postponed: '稍后补上',
}

export const words = dictionary({
  en: {
    title: 'Misfires',
    hint: 'Planned fire times that nothing ran at, and why',
    filterLabel: 'Filter: trigger, job, group, cause',
    filterHint: 'trigger:reports/daily job:reports/daily group:reports cause:outage',
    cause: 'Cause',
    allCauses: 'All causes',
    causes: causesEn,
    policy: 'Misfire instruction',
    policies: policiesEn,
    fires: 'Fires',
    many: 'Too many to count',
    first: 'First',
    last: 'Last',
    noticed: 'Noticed',
    empty: 'No misfires',
    emptyHint: 'Every planned fire time became a run, as far as the store remembers it.',
    noneFound: 'No misfire fits',
    noneFoundHint: 'Terms: job: trigger: group: cause:. All of them must hold.',
  },
  zh: {
    title: '错过触发',
    hint: '计划了却没有运行的触发时间及其原因',
    filterLabel: '筛选：trigger、job、group、cause',
    filterHint: 'trigger:reports/daily job:reports/daily group:reports cause:outage',
    cause: '原因',
    allCauses: '全部原因',
    causes: causesZh,
    policy: '错过触发指令',
    policies: policiesZh,
    fires: '次数',
    many: '多得无法计数',
    first: '首次',
    last: '末次',
    noticed: '发现于',
    empty: '没有错过的触发',
    emptyHint: '就存储所记，每个计划的触发时间都已运行。',
    noneFound: '没有符合的记录',
    noneFoundHint: '条件：job: trigger: group: cause:，须全部满足。',
  },
})
