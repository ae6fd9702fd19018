import type { JSX } from 'preact'
import { visibleName } from '../../../src/core/visible-text.ts'
import type { KeyJson } from '../../../src/server/wire/fields.ts'
import { href, jobPath, triggerPath } from '../state/place.ts'
import { common } from '../words/common.ts'

interface KeyLinkProps {
  readonly of: KeyJson
}

/** The group stands before the name, in quiet letters. */
function KeyText({ of }: KeyLinkProps): JSX.Element {
  return (
    <>
      <span class="key-group">{visibleName(of.group)}</span>
      <span class="key-slash">/</span>
      <wbr />
      <span class="key-name">{visibleName(of.name)}</span>
    </>
  )
}

export function JobLink({ of }: KeyLinkProps): JSX.Element {
  return (
    <a class="key" href={href(jobPath(of))}>
      <KeyText of={of} />
    </a>
  )
}

export function TriggerLink({ of }: KeyLinkProps): JSX.Element {
  return (
    <a class="key" href={href(triggerPath(of))}>
      <KeyText of={of} />
    </a>
  )
}

/** Whether somebody ran the job: then the trigger was made for that run, and is gone when it has fired. */
export function isByHand({ group, name }: KeyJson): boolean {
  return group === 'DEFAULT' && name.startsWith('MT_')
}

/** The trigger of an execution. */
export function FiredBy({ of }: KeyLinkProps): JSX.Element {
  if (!isByHand(of)) return <TriggerLink of={of} />
  return (
    <span class="muted nowrap" title={keyText(of)}>
      {common().byHand}
    </span>
  )
}

/** What a key is known by in a list or a map: `a/b` may be of two keys once their text is cut elsewhere. */
export function keyId({ group, name }: KeyJson): string {
  return JSON.stringify([group, name])
}

/** With signs for characters that would make it look like the key of another. */
export function keyText({ group, name }: KeyJson): string {
  return visibleName(`${group}/${name}`)
}
