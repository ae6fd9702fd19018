import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import type { ExecutorGroupJson, XxlJobsJson, XxlJobTypeJson } from '../../../../src/server/wire/xxl-job.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { Dialog, useClose } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ChoiceField, TextField } from '../../parts/fields.tsx'
import { JobLink, keyId, keyText } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { saidOfRun } from '../../parts/run-dialog.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { When } from '../../parts/time.tsx'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

interface Row {
  readonly key: KeyJson
  readonly type: XxlJobTypeJson
  /** The job says in its data what is sent; the source of a script is on its page, then. */
  readonly isFromData: boolean
}

interface ExecutorJobsProps {
  /** Null while they load first. */
  readonly of: XxlJobsJson | null
  readonly groups: readonly ExecutorGroupJson[]
  readonly mayRun: boolean
}

/** The stored jobs that executors run: each can be run once, and its script read. */
export function ExecutorJobs({ of: jobs, groups, mayRun }: ExecutorJobsProps): JSX.Element {
  const text = words()
  const asked = useSignal<Row | null>(null)
  const read = useSignal<XxlJobTypeJson | null>(null)
  const { value: row } = asked
  return (
    <Panel title={text.jobs} isFlush>
      <Table
        caption={text.jobs}
        columns={columns(mayRun ? asked : null, read)}
        rows={jobs && rowsOf(jobs)}
        keyOf={({ key }) => keyId(key)}
        empty={<Empty title={text.noJobs} hint={text.noJobsHint} />}
      />
      {jobs?.isWhole === false && <p class="note info">{text.moreJobs(jobs.jobs.length)}</p>}
      {row !== null && (
        <RunOnce
          of={row}
          addresses={addressesOf(groups, row.type.appName)}
          onClose={() => {
            asked.value = null
          }}
        />
      )}
      {read.value !== null && (
        <Source
          of={read.value}
          onClose={() => {
            read.value = null
          }}
        />
      )}
    </Panel>
  )
}

function rowsOf({ types, jobs }: XxlJobsJson): readonly Row[] {
  const byName = new Map(types.map((type) => [type.jobType, type]))
  return jobs.flatMap(({ group, name, jobType, fromData }) => {
    const type = fromData ?? byName.get(jobType)
    return type === undefined ? [] : [{ key: { group, name }, type, isFromData: fromData !== null }]
  })
}

function addressesOf(groups: readonly ExecutorGroupJson[], appName: string): readonly string[] {
  const group = groups.find((each) => each.appName === appName)
  return group?.executors.map(({ address }) => address) ?? []
}

/** Null for those who may not run anything. */
function columns(
  asked: Signal<Row | null> | null,
  read: Signal<XxlJobTypeJson | null>,
): readonly Column<Row>[] {
  const text = words()
  const names = common()
  return [
    { id: 'job', title: names.job, cell: ({ key }) => <JobLink of={key} />, isWide: true },
    { id: 'appName', title: text.appName, cell: ({ type }) => <span class="key">{type.appName}</span> },
    { id: 'handler', title: text.handler, cell: (row) => <Handler of={row} read={read} /> },
    {
      id: 'route',
      title: text.route,
      cell: ({ type }) => <span class="mono">{type.route}</span>,
      isMinor: true,
    },
    {
      id: 'block',
      title: text.block,
      cell: ({ type }) => <span class="mono">{type.blockStrategy}</span>,
      isMinor: true,
    },
    {
      id: 'actions',
      title: names.actions,
      isTitleHidden: true,
      cell: (row) =>
        asked !== null && (
          <Button
            text={`${names.run}: ${keyText(row.key)}`}
            icon="play"
            isSmall
            onPress={() => {
              asked.value = row
            }}
          />
        ),
    },
  ]
}

interface HandlerProps {
  readonly of: Row
  readonly read: Signal<XxlJobTypeJson | null>
}

function Handler({ of: { type, isFromData }, read }: HandlerProps): JSX.Element {
  if (type.glue === null || isFromData || !may('xxlJob.glue'))
    return <span class="mono">{type.glue?.type ?? type.handler}</span>
  const text = words()
  return (
    <span class="actions">
      <span class="mono">{type.glue.type}</span>
      <Button
        text={`${text.source}: ${type.jobType}`}
        icon="search"
        isSmall
        onPress={() => {
          read.value = type
        }}
      />
    </span>
  )
}

interface RunOnceProps {
  readonly of: Row
  readonly addresses: readonly string[]
  readonly onClose: () => void
}

function RunOnce({ of: { key, type }, addresses, onClose }: RunOnceProps): JSX.Element {
  const text = words()
  const names = common()
  const param = useSignal('')
  const address = useSignal('')
  const close = useClose(onClose)
  const start = async (): Promise<void> => {
    const body = {
      ...(param.value !== '' && { param: param.value }),
      ...(address.value !== '' && { address: address.value }),
    }
    await act(call('xxlJob.run', { params: key, body }), saidOfRun(keyText(key)))
    close()
  }
  return (
    <Dialog title={text.runTitle(keyText(key))} onClose={onClose}>
      <div class="form">
        <TextField
          label={text.param}
          hint={text.paramHint}
          value={param.value}
          onChange={(value) => {
            param.value = value
          }}
        />
        <ChoiceField
          label={text.address}
          value={address.value}
          choices={[
            { value: '', text: text.byRoute(type.route) },
            ...addresses.map((each) => ({ value: each, text: each })),
          ]}
          onChange={(value) => {
            address.value = value
          }}
        />
        <div class="dialog-actions">
          <Button text={names.cancel} onPress={onClose} />
          <Button text={names.run} icon="play" kind="primary" onPress={start} />
        </div>
      </div>
    </Dialog>
  )
}

function Source({
  of: type,
  onClose,
}: {
  readonly of: XxlJobTypeJson
  readonly onClose: () => void
}): JSX.Element {
  const text = words()
  const loaded = useResource(
    (signal) => call('xxlJob.glue', { params: { name: type.jobType }, signal }),
    [type.jobType],
  )
  const glue = loaded.value.value
  const error = loaded.error.value
  return (
    <Dialog title={text.sourceOf(type.jobType)} onClose={onClose} isWide>
      {error !== null && <ProblemNote error={error} retry={loaded.reload} />}
      {glue !== null && (
        <div class="stack">
          <p class="muted">
            {glue.type}, {text.updated} <When ms={glue.updatedMs} />
          </p>
          <Code text={glue.source} label={text.sourceOf(type.jobType)} />
        </div>
      )}
    </Dialog>
  )
}
