import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { extname, join, resolve, sep } from 'node:path'
import { InvalidArgumentError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { codeOf, textOf } from '../../core/thrown-value.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
}

/** Vite puts what it builds into this folder, with the hash of the content in each name. */
const hashedFolder = '/assets/'

const emptyPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>quartz-ts</title></head>
<body><h1>quartz-ts</h1>
<p>The server runs. Its API is below <code>__BASE_PATH__/api</code>, described by
<code>__BASE_PATH__/api/openapi.json</code>. Send the token with each request, as
<code>Authorization: Bearer TOKEN</code>.</p>
</body></html>
`

/** Where there is no file of such a name, or cannot be: it is too long, has a NUL, or goes through another file. */
const absentCodes: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']

/** The files of a folder, and its page for every path that is none of them. */
export class Page {
  readonly #folder: string
  readonly #indexFile: string
  readonly #basePath: string

  constructor(folder: string, basePath: string) {
    this.#folder = resolve(folder)
    this.#indexFile = join(this.#folder, 'index.html')
    this.#basePath = basePath
  }

  /** Reads what every path is answered with. @throws what the file system says where that cannot be done */
  async check(): Promise<void> {
    await readFile(this.#indexFile)
  }

  /** Null where there is neither a file nor a wish for a page. */
  async answer(path: string, accepts: string): Promise<Response | null> {
    const file = await this.#find(path)
    if (file !== null) return fileResponse(file.content, path)
    // Names of jobs have dots as well; a program that asks for a missing script must not get a page.
    const wantsPage = accepts.includes('text/html') || (accepts.includes('*/*') && extname(path) === '')
    return wantsPage ? this.#index() : null
  }

  async #find(path: string): Promise<{ content: Buffer } | null> {
    const place = join(this.#folder, path)
    // `join` has resolved what leads out of the folder.
    if (!place.startsWith(this.#folder + sep) || path === '/index.html') return null
    const isFile = (await unlessAbsent(stat(place)))?.isFile() === true
    const content = isFile ? await unlessAbsent(readFile(place)) : null
    return content === null ? null : { content }
  }

  async #index(): Promise<Response> {
    const nonce = randomBytes(16).toString('base64')
    const html = (await unlessAbsent(readFile(this.#indexFile, 'utf8'))) ?? emptyPage
    const body = html.replaceAll('__CSP_NONCE__', nonce).replaceAll('__BASE_PATH__', this.#basePath)
    return new Response(body, { headers: { ...pageHeaders(nonce), 'cache-control': 'no-store' } })
  }
}

/** What is served, and where it is. */
interface PageOptions {
  /** The folder of who makes the server, null for that of this package, false for no page. */
  readonly dashboard: string | false | null
  readonly ownFolder: string
  readonly basePath: string
  readonly logger: Logger
}

/**
 * The page of a server, null for none. A bundle lacks the one of this package, and what mounts the API alone does not
 * miss it: there it is only warned of.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for a folder that is named and has no page
 */
export async function openPage({
  dashboard,
  ownFolder,
  basePath,
  logger,
}: PageOptions): Promise<Page | null> {
  if (dashboard === false) return null
  const folder = resolve(dashboard ?? ownFolder)
  const page = new Page(folder, basePath)
  try {
    await page.check()
  } catch (cause) {
    if (dashboard !== null) throw noPage(folder, cause)
    const remedy = "leave quartz-ts out of the bundle, or pass 'dashboard' a folder, or false"
    logger.warn({ path: folder, err: cause }, `the page of the dashboard is not there: ${remedy}`)
  }
  return page
}

function noPage(folder: string, cause: unknown): InvalidArgumentError {
  const message =
    `createServer: 'dashboard' names the folder '${folder}', which has no index.html that can be read ` +
    `(${textOf(cause)}). Name the folder of a page that was built, or pass false for none.`
  return new InvalidArgumentError('dashboard', message, 'ERR_INVALID_OPTION', { cause })
}

/** Null where the file is not there. */
async function unlessAbsent<Value>(read: Promise<Value>): Promise<Value | null> {
  try {
    return await read
  } catch (error) {
    if (absentCodes.includes(codeOf(error))) return null
    throw error
  }
}

function fileResponse(content: Buffer, path: string): Response {
  const isHashed = path.startsWith(hashedFolder)
  return new Response(new Uint8Array(content), {
    headers: {
      'content-type': types[extname(path)] ?? 'application/octet-stream',
      'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      'x-content-type-options': 'nosniff',
    },
  })
}

function pageHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  }
}
