import { type ArgumentCheck, checkSecret, checkThat } from '../../core/arguments.ts'

/** An address of either side: nothing in it but scheme, host, port and path. */
export function isHttpUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === '' && search === '' && hash === ''
}

/** It goes into a header. */
export const checkToken: ArgumentCheck = checkSecret(
  'a text of visible ASCII characters, or null for none',
  (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
)

export const checkBasePath: ArgumentCheck = checkThat("'' or a path such as '/xxl-job'", (value) => {
  return typeof value === 'string' && /^(\/[\w.~-]+)*$/.test(value)
})
