import type { JSX } from 'preact'
import type { KeyJson } from '../../../src/server/wire/fields.ts'
import { href, jobPath, triggerPath } from '../state/place.ts'

interface KeyLinkProps {
  readonly of: KeyJson
}

/** The group stands before the name, in quiet letters. */
function KeyText({ of }: KeyLinkProps): JSX.Element {
  return (
    <>
      <span class="key-group">{of.group}</span>
      <span class="key-slash">/</span>
      <wbr />
      <span class="key-name">{of.name}</span>
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

export function keyText({ group, name }: KeyJson): string {
  return `${group}/${name}`
}
