import { beginningOf } from './text-beginning.ts'

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
 * The address of a store, or a message, for people: URLs without their users and passwords, and `***` for passwords and
 * their like among parameters or in a list such as `host=db password=x`. Other texts stay as they are.
 */
export function withoutSecrets(text: string): string {
  return withUsers(text, '').replace(parameter, `$1${hidden}`).replace(setting, `$1${hidden}`)
}

/** Read of a longer text, so that a secret that the cut would halve is still seen whole. */
const marginLength = 1000

/** The beginning of a text for people, without what looks like a secret. */
export function shownBeginning(text: string, length: number): string {
  return beginningOf(withoutSecrets(text.slice(0, length + marginLength)), length)
}

/** Read of the message of an error: more than any store keeps, so that what is cut off a secret is not shown. */
const errorLength = 10_000

/** The message of an error as it is stored: a reader finds no secret in it, and a search cannot guess one. */
export function storedError(text: string): string {
  return withoutSecrets(beginningOf(text, errorLength))
}

/** The same with `***@` for a user and password, so that who sends it back can be told from who never had them. */
export function withHidden(text: string): string {
  return withUsers(text, `${hidden}@`).replace(parameter, `$1${hidden}`).replace(setting, `$1${hidden}`)
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

/** Of an address, and of those within a text. The time it takes grows with the length alone. */
function withUsers(text: string, instead: string): string {
  const split = '://'
  if (!text.includes(split)) return text
  const whole = withUser(text, instead)
  const shown = whole.replace(/:\/\/(\S+)/g, (_, rest: string, at: number) => {
    return split + withoutUser(whole.slice(Math.max(0, at - schemeLengthMax), at), rest, instead)
  })
  // Also where an address is a parameter of another one.
  const parts = shown.split(split)
  return parts
    .map((rest, index) => {
      const before = parts[index - 1]
      return before === undefined ? rest : withoutUser(before.slice(-schemeLengthMax), rest, instead)
    })
    .join(split)
}

const schemeLengthMax = 50
const endOfQuoted = new Map(['"', "'", '`'].map((quote) => [quote, new RegExp(`\\s|(?<!\\\\)${quote}`)]))

/** What follows `://`. After a quote the address ends with the next one, as in JSON, and else with the next blank. */
function withoutUser(before: string, rest: string, instead: string): string {
  const [, quote = '', scheme = ''] = /(["'`]?)([a-z][\w+.-]*)$/i.exec(before) ?? []
  const end = rest.search(endOfQuoted.get(quote) ?? /\s/)
  const own = end < 0 ? rest : rest.slice(0, end)
  const address = `${scheme}://${own}`
  const length = userLength(own, URL.canParse(address) ? new URL(address) : null)
  return length === 0 ? rest : instead + rest.slice(length)
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
