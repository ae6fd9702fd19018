import type { Role } from '../../../../src/server/catalogue/role.ts'
import { dictionary } from '../../words/dictionary.ts'

const roles: Readonly<Record<'en' | 'zh', Readonly<Record<Role, string>>>> = {
  en: { viewer: 'Viewer', operator: 'Operator', admin: 'Admin' },
  zh: { viewer: '查看者', operator: '操作员', admin: '管理员' },
}

export const words = dictionary({
  en: {
    title: 'Users and tokens',
    below: 'Who may come in to this server',
    roles: roles.en,
    users: 'Users',
    tokens: 'Tokens',
    role: 'Role',
    groupsOnly: 'On groups alone',
    groups: 'Groups of jobs',
    known: 'Known from',
    kept: {
      options: 'The options of the server',
      file: 'A file: made at the first start, and printed once',
      memory: 'Memory: made at this start, printed once, and gone with the process',
    },
    hook: 'The host says who somebody is',
    hookHint: 'This server is mounted in another, whose own users it takes. Who may come in is known there.',
    noUsers: 'Nobody may come in',
    noUsersHint: 'The options of the server name no users.',
    add: { token: 'Add a token', password: 'Add a user' },
    addHint: {
      token:
        'Tokens are options of the server, which knows them by their SHA-256. The first line prints a new one:',
      password:
        'Users are options of the server, with a hash of each password. The first line asks for one and prints it:',
    },
    afterwards: 'Then start the server again.',
    you: 'Your session',
    signedInAs: 'Signed in as',
    lasts: 'A session lasts',
    signOut: 'Sign out',
    audit: 'What you have done',
  },
  zh: {
    title: '用户与令牌',
    below: '谁可以进入此服务器',
    roles: roles.zh,
    users: '用户',
    tokens: '令牌',
    role: '角色',
    groupsOnly: '仅限分组',
    groups: '作业分组',
    known: '来源',
    kept: {
      options: '服务器选项',
      file: '文件：首次启动时生成，只显示一次',
      memory: '内存：本次启动时生成，只显示一次，随进程消失',
    },
    hook: '身份由宿主确认',
    hookHint: '此服务器挂载在另一服务器中，沿用其用户。谁可以进入由宿主决定。',
    noUsers: '没有人可以进入',
    noUsersHint: '服务器选项中没有用户。',
    add: { token: '添加令牌', password: '添加用户' },
    addHint: {
      token: '令牌写在服务器选项中，服务器只保存其 SHA-256。第一行会打印新令牌及其摘要：',
      password: '用户写在服务器选项中，并附密码的哈希。第一行会询问密码并打印哈希：',
    },
    afterwards: '然后重新启动服务器。',
    you: '你的会话',
    signedInAs: '已登录为',
    lasts: '会话有效期',
    signOut: '退出登录',
    audit: '你的操作记录',
  },
})
