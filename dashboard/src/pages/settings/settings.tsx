import type { JSX } from 'preact'
import { ChoiceField } from '../../parts/fields.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import {
  browserZone,
  type Language,
  language,
  type Theme,
  theme,
  themes,
  zoneChoice,
} from '../../state/preferences.ts'
import { session } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { dictionary } from '../../words/dictionary.ts'
import { shell } from '../../words/shell.ts'

const words = dictionary({
  en: {
    title: 'Settings',
    below: 'Choices are kept in this browser',
    look: 'This page',
    theme: 'Colours',
    zone: 'Times',
    browserZone: (zone: string) => `Of this browser (${zone})`,
    who: 'Who you are',
    role: 'Role',
    roles: { viewer: 'Viewer', operator: 'Operator', admin: 'Admin' },
    someGroups: 'On some groups of jobs',
    groups: 'Groups of jobs',
    readOnly: 'Read-only server',
    version: 'Version of the server',
    operations: (count: number) => `Operations that you may call: ${count}`,
    operationsHint: 'Names as in the description of the API. The server decides each time.',
  },
  zh: {
    title: '设置',
    below: '选择保存在此浏览器中',
    look: '此页面',
    theme: '颜色',
    zone: '时间',
    browserZone: (zone) => `浏览器时区（${zone}）`,
    who: '当前身份',
    role: '角色',
    roles: { viewer: '查看者', operator: '操作员', admin: '管理员' },
    someGroups: '仅限部分作业分组',
    groups: '作业分组',
    readOnly: '只读服务器',
    version: '服务器版本',
    operations: (count) => `可调用的操作：${count}`,
    operationsHint: '名称与 API 说明一致。服务器每次都会检查权限。',
  },
})

const languageNames: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' }

export function SettingsPage(): JSX.Element {
  const text = words()
  return (
    <>
      <PageHead title={text.title} below={text.below} />
      <div class="columns">
        <Look />
        <Who />
      </div>
      <Operations />
    </>
  )
}

function Look(): JSX.Element {
  const text = words()
  const names = shell()
  return (
    <Panel title={text.look}>
      <div class="form">
        <ChoiceField<Theme>
          label={text.theme}
          value={theme.value}
          choices={themes.map((value) => ({ value, text: names.theme[value] }))}
          onChange={(value) => {
            theme.value = value
          }}
        />
        <ChoiceField<Language>
          label={names.language}
          value={language.value}
          choices={(['en', 'zh'] as const).map((value) => ({ value, text: languageNames[value] }))}
          onChange={(value) => {
            language.value = value
          }}
        />
        <ChoiceField<'browser' | 'UTC'>
          label={text.zone}
          value={zoneChoice.value}
          choices={[
            { value: 'browser', text: text.browserZone(browserZone) },
            { value: 'UTC', text: 'UTC' },
          ]}
          onChange={(value) => {
            zoneChoice.value = value
          }}
        />
      </div>
    </Panel>
  )
}

function Who(): JSX.Element {
  const text = words()
  const names = common()
  const { principal = null, isReadOnly = false, version = null } = session.value ?? {}
  const groups = Object.entries(principal?.jobGroups ?? {})
  return (
    <Panel title={text.who}>
      <Facts
        facts={[
          { name: names.name, value: principal?.name },
          { name: text.role, value: principal?.role ? text.roles[principal.role] : text.someGroups },
          {
            name: text.groups,
            value: groups.map(([group, role]) => `${group}: ${text.roles[role]}`).join(', '),
            isLeftOut: groups.length === 0,
          },
          { name: text.readOnly, value: isReadOnly ? names.yes : names.no },
          { name: text.version, value: version ?? '–' },
        ]}
      />
    </Panel>
  )
}

function Operations(): JSX.Element {
  const text = words()
  const operations = session.value?.operations ?? []
  return (
    <Panel title={text.operations(operations.length)}>
      <p class="muted">{text.operationsHint}</p>
      <ul class="operations mono">
        {operations.map((id) => (
          <li key={id}>{id}</li>
        ))}
      </ul>
    </Panel>
  )
}
