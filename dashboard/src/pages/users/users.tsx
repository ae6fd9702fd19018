import type { JSX } from 'preact'
import type { AuthJson } from '../../../../src/server/operations/auth.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { examples } from '../../examples.ts'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { href } from '../../state/place.ts'
import { session, signOut } from '../../state/session.ts'
import { durationText, unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

type Known = AuthJson['items'][number]

export function UsersPage(): JSX.Element {
  const text = words()
  const loaded = useResource((signal) => call('auth.list', { signal }), [])
  const shown = loaded.value.value
  const error = loaded.error.value
  return (
    <>
      <PageHead title={text.title} below={text.below} />
      {error !== null && <ProblemNote error={error} retry={loaded.reload} />}
      {(error === null || shown !== null) && <Known shown={shown} />}
      <div class="columns">
        <You sessionMs={shown?.sessionMs ?? null} />
        {shown !== null && shown.credentials !== null && <Add credentials={shown.credentials} />}
      </div>
    </>
  )
}

function Known({ shown }: { readonly shown: AuthJson | null }): JSX.Element {
  const text = words()
  const isHook = shown !== null && shown.credentials === null
  return (
    <Panel title={shown?.credentials === 'token' ? text.tokens : text.users} isFlush>
      {isHook ? (
        <Empty title={text.hook} hint={text.hookHint} />
      ) : (
        <Table
          caption={text.title}
          columns={columns()}
          rows={shown?.items ?? null}
          keyOf={({ name }) => name}
          empty={<Empty title={text.noUsers} hint={text.noUsersHint} />}
        />
      )}
    </Panel>
  )
}

function columns(): readonly Column<Known>[] {
  const text = words()
  return [
    { id: 'name', title: common().name, cell: ({ name }) => <span class="key">{name}</span> },
    {
      id: 'role',
      title: text.role,
      cell: ({ role }) => (role === null ? text.groupsOnly : text.roles[role]),
    },
    {
      id: 'groups',
      title: text.groups,
      cell: ({ jobGroups = {} }) =>
        Object.entries(jobGroups)
          .map(([group, role]) => `${group}: ${text.roles[role]}`)
          .join(', '),
    },
    { id: 'kept', title: text.known, cell: ({ kept }) => text.kept[kept] },
  ]
}

function You({ sessionMs }: { readonly sessionMs: number | null }): JSX.Element {
  const text = words()
  const { principal = null, credentials = null } = session.value ?? {}
  const name = principal?.name ?? ''
  return (
    <Panel
      title={text.you}
      actions={credentials !== null && <Button text={text.signOut} icon="signOut" onPress={signOut} />}
    >
      <div class="stack">
        <Facts
          facts={[
            { name: text.signedInAs, value: name },
            { name: text.role, value: principal?.role ? text.roles[principal.role] : unknownText },
            { name: text.lasts, value: durationText(sessionMs), isLeftOut: credentials === null },
          ]}
        />
        <a href={href('/audit', { by: name })}>{text.audit}</a>
      </div>
    </Panel>
  )
}

function Add({ credentials }: { readonly credentials: 'token' | 'password' }): JSX.Element {
  const text = words()
  return (
    <Panel title={text.add[credentials]}>
      <div class="stack">
        <p>{text.addHint[credentials]}</p>
        <Code
          text={credentials === 'token' ? 'npx quartz-ts new-token' : 'npx quartz-ts hash-password'}
          label={text.add[credentials]}
        />
        <Code
          text={credentials === 'token' ? examples.addToken : examples.addUser}
          label={text.add[credentials]}
        />
        <p class="muted">{text.afterwards}</p>
      </div>
    </Panel>
  )
}
