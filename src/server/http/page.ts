import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { extname, join, resolve, sep } from 'node:path'

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

/** The files of a folder, and its page for every path that is none of them. */
export class Page {
  readonly #folder: string
  readonly #basePath: string

  constructor(folder: string, basePath: string) {
    this.#folder = resolve(folder)
    this.#basePath = basePath
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
    try {
      return (await stat(place)).isFile() ? { content: await readFile(place) } : null
    } catch {
      return null
    }
  }

  async #index(): Promise<Response> {
    const nonce = randomBytes(16).toString('base64')
    const html = await readFile(join(this.#folder, 'index.html'), 'utf8').catch(() => emptyPage)
    const body = html.replaceAll('__CSP_NONCE__', nonce).replaceAll('__BASE_PATH__', this.#basePath)
    return new Response(body, { headers: { ...pageHeaders(nonce), 'cache-control': 'no-store' } })
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
