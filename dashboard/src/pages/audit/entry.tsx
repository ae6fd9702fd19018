import type { JSX } from 'preact'
import { visibleName } from '../../../../src/core/visible-text.ts'
import type { AuditEntry } from '../../../../src/jobstore/audit.ts'
import { Code } from '../../parts/code.tsx'
import { JobLink, keyText, TriggerLink } from '../../parts/links.tsx'
import { unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { type ChangedValue, changesBetween, pretty } from './changes.ts'
import { words } from './words.ts'

/** What an entry is about; a job or a trigger leads to its page. */
export function Target({
  of: { operation, targetGroup, targetName },
}: {
  readonly of: AuditEntry
}): JSX.Element {
  const only = targetGroup ?? targetName
  if (only === null) return <span class="unknown">{unknownText}</span>
  if (targetGroup === null || targetName === null) return <span class="key">{visibleName(only)}</span>
  const key = { group: targetGroup, name: targetName }
  if (operation.startsWith('jobs.')) return <JobLink of={key} />
  if (operation.startsWith('triggers.')) return <TriggerLink of={key} />
  return <span class="key">{keyText(key)}</span>
}

/** What was sent, and what was there before and after. */
export function EntryDetails({ of: entry }: { readonly of: AuditEntry }): JSX.Element {
  const text = words()
  const names = common()
  const { errorText, requestText, beforeText, afterText } = entry
  const changes = changesBetween(beforeText, afterText)
  const isBare = [errorText, requestText, beforeText, afterText].every((each) => each === null)
  return (
    <div class="stack">
      {isBare && <p class="muted">{text.nothingMore}</p>}
      {errorText !== null && <Part title={names.error} text={errorText} />}
      {changes.length > 0 && <Changes of={changes} />}
      {requestText !== null && <Part title={text.request} text={pretty(requestText)} />}
      <div class="columns">
        {beforeText !== null && <Part title={text.before} text={pretty(beforeText)} />}
        {afterText !== null && <Part title={text.after} text={pretty(afterText)} />}
      </div>
    </div>
  )
}

function Part({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <div>
      <h2>{title}</h2>
      <Code text={text} label={title} />
    </div>
  )
}

function Changes({ of: changes }: { readonly of: readonly ChangedValue[] }): JSX.Element {
  const text = words()
  return (
    <div>
      <h2>{text.changed}</h2>
      <dl class="facts">
        {changes.map(({ path, before, after }) => (
          <div key={path}>
            <dt class="mono">{path}</dt>
            <dd>
              <del class="mono">{before ?? text.nothing}</del> <ins class="mono">{after ?? text.nothing}</ins>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
