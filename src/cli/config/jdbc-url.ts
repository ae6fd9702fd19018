import { withoutSecrets } from '../../core/secrets.ts'

/** The address of a PostgreSQL database. */
export interface PostgresAddress {
  readonly url: string
  /** The same without user and password. */
  readonly place: string
  readonly schema: string | null
  /** Parameters of the JDBC driver that have no meaning here. */
  readonly unused: readonly string[]
}

/** Parameters of the JDBC driver that pg has as well, some under another name. */
const parameters: Readonly<Record<string, string>> = {
  sslmode: 'sslmode',
  sslrootcert: 'sslrootcert',
  sslcert: 'sslcert',
  sslkey: 'sslkey',
  ApplicationName: 'application_name',
}

/** Reads `jdbc:postgresql://host:port/database?parameters`; null for another database. */
export function readJdbcUrl(
  jdbc: string,
  { user, password }: { readonly user: string | null; readonly password: string | null },
): PostgresAddress | null {
  const rest = /^jdbc:postgresql:(.*)$/.exec(jdbc)?.[1]
  if (rest === undefined) return null
  // The host may be left out: it is this machine then.
  const text = `postgres:${rest.startsWith('//') ? rest : `//localhost/${rest.replace(/^\//, '')}`}`
  if (!URL.canParse(text)) return null
  const given = new URL(text)
  const url = new URL(given)
  url.search = ''
  let schema: string | null = null
  const unused: string[] = []
  const known = { user, password }
  for (const [name, value] of given.searchParams) {
    const own = parameters[name]
    if (name === 'user' || name === 'password') known[name] ??= value
    else if (name === 'currentSchema') schema = value.split(',')[0] ?? value
    else if (name === 'ssl' && value !== 'false') url.searchParams.set('sslmode', 'require')
    else if (own !== undefined) url.searchParams.set(own, value)
    else unused.push(name)
  }
  if (known.user !== null) url.username = encodeURIComponent(known.user)
  if (known.password !== null) url.password = encodeURIComponent(known.password)
  return { url: url.href, place: withoutSecrets(url.href), schema, unused }
}
