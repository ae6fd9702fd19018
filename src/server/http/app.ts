import { type Context, Hono } from 'hono'
import { SchedulerError } from '../../core/errors.ts'
import type { HttpMethod, Operation } from '../catalogue/operation.ts'
import { nothingHere } from '../wire/nothing-here.ts'
import type { Connection } from './connection.ts'
import type { Page } from './page.ts'
import type { RequestPipeline } from './pipeline.ts'

/** Where no page is, so that a probe whose path is mistyped fails instead of being answered by the page. */
const placesOfApi = /^\/+(?:api(?:\/|$)|health|metrics|(?:live|liveness|ready|readiness)z?\/*$)/i

const methods: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'DELETE']

/** The routes: those of the catalogue, and the page. */
export function createApp(
  catalogue: readonly Operation[],
  pipeline: RequestPipeline,
  { page, basePath }: { readonly page: Page | null; readonly basePath: string },
): Hono<{ Bindings: Connection }> {
  const app = new Hono<{ Bindings: Connection }>()
  /** What answers streams. */
  const streams = new Set<unknown>()
  for (const operation of catalogue) {
    const path = operation.path.replace(/\{(\w+)\}/g, ':$1')
    const places = operation.isServerWide === true ? ['/api'] : ['/api', '/api/schedulers/:scheduler']
    if (operation.isAtRoot === true) places.push('')
    for (const place of places) {
      const handler = ({ req, env }: Context<{ Bindings: Connection }>): Response | Promise<Response> => {
        // Hono answers HEAD as GET without the body, but the client would leave a stream open that it does not read.
        if (req.method === 'HEAD' && operation.isStream === true) return notAllowed(['GET'])
        const { scheduler, ...params } = req.param() as Record<string, string>
        return pipeline.answer({
          operation,
          request: req.raw,
          connection: env,
          params,
          schedulerName: scheduler ?? null,
        })
      }
      if (operation.isStream === true) streams.add(handler)
      app.on(operation.method, `${basePath}${place}${path}`, handler)
    }
  }
  const methodsOf = (path: string): readonly string[] =>
    methods.flatMap((method) => {
      const handler = app.router.match(method, path)[0][0]?.[0][0]
      if (handler === undefined) return []
      return method === 'GET' && !streams.has(handler) ? ['GET', 'HEAD'] : [method]
    })
  const notAllowed = (allowed: readonly string[], method = ''): Response => {
    const headers = new Headers({ allow: [...allowed, 'OPTIONS'].join(', ') })
    if (method === 'OPTIONS') return new Response(null, { status: 204, headers })
    const detail = `This path takes ${allowed.join(', ')}.`
    return pipeline.problem(new SchedulerError('ERR_METHOD_NOT_ALLOWED', detail), 'none', headers)
  }
  app.notFound(async ({ req }) => {
    const allowed = methodsOf(req.path)
    if (allowed.length > 0) return notAllowed(allowed, req.method)
    const path = req.path.slice(basePath.length)
    const isApi = placesOfApi.test(path)
    const isBelow = req.path.startsWith(basePath) && (path === '' || path.startsWith('/'))
    const isPage = (req.method === 'GET' || req.method === 'HEAD') && !isApi && isBelow
    const found = isPage ? await page?.answer(path, req.header('accept') ?? '') : null
    return found ?? pipeline.problem(new SchedulerError('ERR_NOT_FOUND', nothingHere), 'none')
  })
  app.onError((error) => pipeline.problem(error, 'none'))
  return app
}
