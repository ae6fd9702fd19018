import type { KeyJson } from './fields.ts'

/** A key as people type it: `group/name`, with %2F for a slash in the group, and %25 for a percent sign there. */
export function typedKey({ group, name }: KeyJson): string {
  return `${group.replace(/[%/]/g, (sign) => (sign === '/' ? '%2F' : '%25'))}/${name}`
}

/** What was typed of a key: the group is null where there is no slash. Both may be empty. */
export function readTypedKey(text: string): { readonly group: string | null; readonly name: string } {
  const slash = text.indexOf('/')
  if (slash < 0) return { group: null, name: text }
  const group = text.slice(0, slash).replace(/%(2F|25)/gi, (_, code: string) => (code === '25' ? '%' : '/'))
  return { group, name: text.slice(slash + 1) }
}
