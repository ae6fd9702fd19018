import type { HealthCode } from '../../../../src/health/health-report.ts'
import { dictionary } from '../../words/dictionary.ts'

interface Said {
  readonly text: string
  readonly remedy: string
}

interface Words {
  /** What nothing else on the page says. */
  readonly codes: Readonly<Partial<Record<HealthCode, Said>>>
}

/** Why the node that answers is not ready, and what to do about it. */
export const words: () => Words = dictionary<Words>({
  en: {
    codes: {
      takenOver: {
        text: 'Another process has taken over the work of this node, which fires nothing any more.',
        remedy: 'Start its process anew.',
      },
      stopping: {
        text: 'This node is about to stop.',
        remedy: 'Nothing is to be done when that is meant: it begins nothing new.',
      },
      storeUnavailable: {
        text: 'The store does not answer this node.',
        remedy:
          'Look whether the database runs and is reached. The node goes on by itself when it answers again.',
      },
      notFiring: {
        text: 'This node tries in vain to fire triggers: the store takes no change.',
        remedy:
          'Look whether the disk of the database is full, and at the log of the node, which has the error.',
      },
      notEnding: {
        text: 'This node tries in vain to write the ends of executions.',
        remedy: 'Look for a table that is locked or a disk that is full; the log of the node has the error.',
      },
      notCheckingIn: {
        text: 'This node cannot write that it is alive.',
        remedy:
          'Look whether the disk of the database is full, or its connection lost; the log of the node has the error.',
      },
    },
  },
  zh: {
    codes: {
      takenOver: {
        text: '另一个进程已接管此节点的工作，此节点不再触发。',
        remedy: '请重新启动其进程。',
      },
      stopping: { text: '此节点即将停止。', remedy: '如属有意则无需处理：它不再开始新的工作。' },
      storeUnavailable: {
        text: '存储未应答此节点。',
        remedy: '请检查数据库是否在运行且可访问。恢复应答后节点会自行继续。',
      },
      notFiring: {
        text: '此节点无法触发触发器：存储不接受任何更改。',
        remedy: '请检查数据库所在磁盘是否已满，并查看节点日志中的错误。',
      },
      notEnding: {
        text: '此节点无法写入执行的结束。',
        remedy: '请检查是否有表被锁定或磁盘已满；节点日志中有错误信息。',
      },
      notCheckingIn: {
        text: '此节点无法写入其在线状态。',
        remedy: '请检查数据库所在磁盘是否已满，或连接是否断开；节点日志中有错误信息。',
      },
    },
  },
})
