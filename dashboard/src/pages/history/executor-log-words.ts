import { dictionary } from '../../words/dictionary.ts'

export const words = dictionary({
  en: {
    log: 'Log of the executor',
    place: (address: string, run: number) => `Run ${run} at ${address}`,
    none: 'The executor has no line of it yet.',
    cut: 'The first lines are not shown any more.',
  },
  zh: {
    log: '执行器日志',
    place: (address, run) => `${address} 上的运行 ${run}`,
    none: '执行器尚无日志。',
    cut: '最早的日志行不再显示。',
  },
})
