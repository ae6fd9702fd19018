import type { JSX } from 'preact'
import type { KeyJson } from '../../../src/server/wire/fields.ts'
import { typedKey } from '../../../src/server/wire/typed-key.ts'
import { href } from '../state/place.ts'
import { may } from '../state/session.ts'
import { dictionary } from '../words/dictionary.ts'

const words = dictionary({
  en: { whoDidWhat: 'Who did what' },
  zh: { whoDidWhat: '谁做了什么' },
})

/** Leads to what was done to a job or a trigger, for those who may see it. */
export function AuditLink({ of: key }: { readonly of: KeyJson }): JSX.Element | null {
  if (!may('audit.list')) return null
  return <a href={href('/audit', { about: typedKey(key) })}>{words().whoDidWhat}</a>
}
