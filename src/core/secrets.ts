/** What stands in the place of a secret. */
export const hidden = '***'

const secretName = String.raw`[\w.-]*(?:pass(?:word|wd|phrase|code)?|pwd|secret|token)`
const secretKey =
  /pass(?:word|wd|phrase|code)?$|pwd$|secret|token|api[_.-]?key|authorization|credential|private[_.-]?key/i
const parameter = new RegExp(`([?&]${secretName}=)[^&]*`, 'gi')
const setting = new RegExp(
  String.raw`((?:^|[\s;])${secretName}\s*=\s*)(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\S+)`,
  'gi',
)

/**
 * The address of a store for logs and messages: a URL without its user and password, and `***` for passwords and their
 * like among its parameters or in a list such as `host=db password=x`. Other texts stay as they are.
 */
export function withoutSecrets(address: string): string {
  return withUser(address, '').replace(parameter, `$1${hidden}`).replace(setting, `$1${hidden}`)
}

/** The same with `***@` for a user and password, so that who sends it back can be told from who never had them. */
export function withHidden(address: string): string {
  return withUser(address, `${hidden}@`).replace(parameter, `$1${hidden}`).replace(setting, `$1${hidden}`)
}

/** Whether a `***` of the text is where {@link withHidden} puts one. */
export function hasHidden(text: string): boolean {
  // With a mark for each of them, those in such a place are hidden once more.
  const marked = text.replaceAll(hidden, mark)
  return marksIn(withHidden(marked)) < marksIn(marked)
}

/** No text of people has this character. */
const mark = '\u0000'

function marksIn(text: string): number {
  return text.split(mark).length
}

function withUser(address: string, instead: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][\w+.-]*:\/\/)(.*)$/is.exec(address) ?? []
  const length = userLength(rest, URL.canParse(address) ? new URL(address) : null)
  return length === 0 ? address : `${scheme}${instead}${rest.slice(length)}`
}

/**
 * How much of what follows the scheme is the user with the `@`. A password that was not encoded may hold any character,
 * so that is up to the last `@`, unless the one surely belongs to a path: in doubt more is hidden.
 */
function userLength(rest: string, url: URL | null): number {
  const [place = ''] = rest.split('?', 1)
  const end = (url !== null && place.includes('@') ? place : rest).lastIndexOf('@') + 1
  const text = place.slice(0, end)
  const slash = text.indexOf('/')
  if (url === null || slash < 0) return end
  const authority = text.slice(0, slash)
  // A password is behind a `:`.
  if (!/[@:]/.test(authority)) return 0
  // As in `https://example.com:8080/@name`: a host or a port, and no user with the begin of a password.
  const isOfPath = /^https?:$/.test(url.protocol) && text.endsWith('/@') && fullHost.test(url.hostname)
  return isOfPath ? authority.lastIndexOf('@') + 1 : end
}

/** What no user is called. */
const fullHost = /\.|^\[|^localhost$/

/** Whether the value under a name in job data is likely to be a secret: `password`, `apiKey`, `db.token`. */
export function isSecretName(name: string): boolean {
  return secretKey.test(name)
}
