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
  return withoutUser(address).replace(parameter, `$1${hidden}`).replace(setting, `$1${hidden}`)
}

/** A password that was not encoded may hold any character, so the user part ends at the last `@` where it can end. */
function withoutUser(address: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][\w+.-]*:\/\/)(.*)$/is.exec(address) ?? []
  const [place = ''] = rest.split('?', 1)
  const user = URL.canParse(address) && place.includes('@') ? place : rest
  return scheme === '' ? address : `${scheme}${rest.slice(user.lastIndexOf('@') + 1)}`
}

/** Whether the value under a name in job data is likely to be a secret: `password`, `apiKey`, `db.token`. */
export function isSecretName(name: string): boolean {
  return secretKey.test(name)
}
