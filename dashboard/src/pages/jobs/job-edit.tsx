import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import type { JobFieldsJson, JobJson } from '../../../../src/server/wire/jobs.ts'
import { call, notThere, read } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { PageProps } from '../../pages.ts'
import { Button } from '../../parts/button.tsx'
import { DataEditor, dataText, readData } from '../../parts/data-editor.tsx'
import { CheckField, TextField } from '../../parts/fields.tsx'
import { keyText } from '../../parts/links.tsx'
import { MayNotSave } from '../../parts/may-not-save.tsx'
import { NoEditor } from '../../parts/no-editor.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { saveAsRead } from '../../parts/save.ts'
import { discards, useUnsaved } from '../../parts/unsaved.ts'
import { href, jobPath, pageOfNow } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

const newJob: JobJson = {
  key: { group: 'DEFAULT', name: '' },
  jobType: '',
  description: null,
  jobDataMap: {},
  durable: true,
  requestsRecovery: false,
  disallowConcurrentExecution: false,
  persistJobDataAfterExecution: false,
  timeoutMs: null,
  retry: null,
  nodeAffinity: null,
  sharding: null,
}

export function NewJobPage(): JSX.Element {
  return <Editor job={newJob} version={notThere} />
}

export function EditJobPage({ params }: PageProps): JSX.Element {
  const key = { group: params['group'] ?? '', name: params['name'] ?? '' }
  // It is loaded once: what somebody types is not replaced by what another one stores.
  const stored = useResource((signal) => read('jobs.get', { params: key, signal }), [], { isOnce: true })
  if (stored.error.value !== null) {
    const { title, editTitle } = words()
    return (
      <NoEditor title={editTitle} list={{ path: '/jobs', title }} of={key} back={jobPath(key)}>
        <ProblemNote error={stored.error.value} retry={stored.reload} />
      </NoEditor>
    )
  }
  if (stored.value.value === null) return <p class="muted">{common().loading}</p>
  const { value: job, version } = stored.value.value
  return <Editor job={job} version={version} />
}

/** What a new job does not say its definition does. */
function withoutNulls(fields: Omit<JobJson, 'key'>): Omit<JobFieldsJson, 'jobDataMap'> {
  const said = Object.entries(fields).filter(([, value]) => value !== null)
  return Object.fromEntries(said) as unknown as JobFieldsJson
}

/** Also of one that is half typed, of which the field itself says so. */
function isLimit(timeoutMs: number | null): boolean {
  return timeoutMs === null || Number.isNaN(timeoutMs) || timeoutMs >= 1
}

interface EditorProps {
  readonly job: JobJson
  /** As it was read. */
  readonly version: string | null
}

function Editor({ job: initial, version }: EditorProps): JSX.Element {
  const text = words()
  const isNew = version === notThere
  const { save, cancel, data: dataLabel } = common()
  const { route } = useLocation()
  const job: Signal<JobJson> = useSignal(initial)
  const data = useSignal(dataText(initial.jobDataMap))
  const { key, ...fields } = job.value
  const { data: typed } = readData(data.value)
  useUnsaved(
    data.value !== dataText(initial.jobDataMap) || JSON.stringify(job.value) !== JSON.stringify(initial),
  )
  const isNamed = key.name.trim() !== '' && fields.jobType.trim() !== ''
  const isReady = typed !== null && isNamed && !Number.isNaN(fields.timeoutMs) && isLimit(fields.timeoutMs)
  const store = async (): Promise<void> => {
    if (typed === null) return
    const isStillHere = pageOfNow()
    const body: JobFieldsJson = { ...(isNew ? withoutNulls(fields) : fields), jobDataMap: typed }
    const name = keyText(key)
    const isSaved = await saveAsRead({
      name,
      version,
      done: text.saved(name),
      put: (how) => call('jobs.put', { params: key, body, ...how }),
    })
    if (isSaved && isStillHere()) route(href(jobPath(key)))
  }
  return (
    <>
      <PageHead
        title={isNew ? text.create : text.editTitle}
        above={<a href={href('/jobs')}>{text.title}</a>}
        below={isNew ? undefined : keyText(key)}
        actions={
          <>
            <a class="button plain" href={href(isNew ? '/jobs' : jobPath(key))} {...discards}>
              {cancel}
            </a>
            <Button
              text={save}
              icon="check"
              kind="primary"
              isDisabled={!isReady || !may('jobs.put')}
              onPress={store}
            />
          </>
        }
      />
      <MayNotSave by="jobs.put" />
      <Panel title={text.definition}>
        <JobFields
          job={job.value}
          isNew={isNew}
          onChange={(changes) => {
            job.value = { ...job.value, ...changes }
          }}
        />
      </Panel>
      <Panel title={dataLabel}>
        <DataEditor label={dataLabel} text={data} />
      </Panel>
    </>
  )
}

interface JobFieldsProps {
  readonly job: JobJson
  readonly isNew: boolean
  readonly onChange: (changes: Partial<JobJson>) => void
}

function JobFields({ job, isNew, onChange }: JobFieldsProps): JSX.Element {
  const text = words()
  const names = common()
  return (
    <div class="form">
      <div class="field-grid">
        <TextField
          label={names.group}
          value={job.key.group}
          isDisabled={!isNew}
          onChange={(group) => {
            onChange({ key: { ...job.key, group } })
          }}
        />
        <TextField
          label={names.name}
          value={job.key.name}
          isDisabled={!isNew}
          onChange={(name) => {
            onChange({ key: { ...job.key, name } })
          }}
        />
        <TextField
          label={names.type}
          value={job.jobType}
          hint={text.typeHint}
          onChange={(jobType) => {
            onChange({ jobType })
          }}
        />
        <TextField
          label={names.description}
          value={job.description ?? ''}
          onChange={(description) => {
            onChange({ description: description === '' ? null : description })
          }}
        />
        <TextField
          label={text.timeoutMs}
          type="number"
          min={1}
          problem={isLimit(job.timeoutMs) ? null : text.timeoutWrong}
          value={job.timeoutMs === null || Number.isNaN(job.timeoutMs) ? '' : String(job.timeoutMs)}
          onChange={(ms) => {
            onChange({ timeoutMs: ms === '' ? null : Math.trunc(Number(ms)) })
          }}
        />
      </div>
      <Traits job={job} onChange={onChange} />
    </div>
  )
}

function Traits({ job, onChange }: Pick<JobFieldsProps, 'job' | 'onChange'>): JSX.Element {
  const { traitHints } = words()
  const traits = [
    'durable',
    'requestsRecovery',
    'disallowConcurrentExecution',
    'persistJobDataAfterExecution',
  ] as const
  return (
    <>
      {traits.map((trait) => (
        <CheckField
          key={trait}
          label={traitHints[trait]}
          isChecked={job[trait]}
          onChange={(isOn) => {
            onChange({ [trait]: isOn })
          }}
        />
      ))}
    </>
  )
}
