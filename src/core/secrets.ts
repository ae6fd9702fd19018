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

/** A password that was not encoded may hold any character, so the user part ends at the last `@` where it can end. */
function withUser(address: string, instead: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][\w+.-]*:\/\/)(.*)$/is.exec(address) ?? []
  const [place = ''] = rest.split('?', 1)
  const url = URL.canParse(address) ? new URL(address) : null
  const user = url !== null && place.includes('@') ? place : rest
  const userLength = user.lastIndexOf('@') + 1
  const isOfPath = url?.username === '' && url.password === '' && isPathOfHost(place.slice(0, userLength))
  return userLength === 0 || isOfPath ? address : `${scheme}${instead}${rest.slice(userLength)}`
}

/** Whether what ends with an `@` is a host and the begin of a path, `example.com/@`: a password is behind a `:`. */
function isPathOfHost(text: string): boolean {
  const slash = text.indexOf('/')
  return slash >= 0 && (text.endsWith('/@') || !text.slice(0, slash).includes(':'))
}

/** Whether the value under a name in job data is likely to be a secret: `password`, `apiKey`, `db.token`. */
export function isSecretName(name: string): boolean {
  return secretKey.test(name)
}
