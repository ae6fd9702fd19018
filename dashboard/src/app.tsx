import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { isPaused } from './api/live.ts'
import { type PageEntry, type PageProps, pages } from './pages.ts'
import { BulkProgress } from './parts/bulk.tsx'
import { Button } from './parts/button.tsx'
import { ConfirmDialog } from './parts/dialog.tsx'
import { Empty } from './parts/empty.tsx'
import { Layout } from './parts/layout.tsx'
import { LoginDialog, LoginPage } from './parts/login.tsx'
import { PageHead } from './parts/page-head.tsx'
import { ProblemNote } from './parts/problem.tsx'
import { ToastList } from './parts/toast-list.tsx'
import { live } from './state/live.ts'
import { basePath, currentScheduler, decoded, href, nameOf } from './state/place.ts'
import { hasEnded, session } from './state/session.ts'
import { unawaited } from './state/toasts.ts'
import { later } from './time/clock.ts'
import { shell } from './words/shell.ts'

interface AppProps {
  /** Why nothing could be loaded. */
  readonly problem: unknown
  /** Tries again. */
  readonly begin: () => Promise<void>
}

/** What fails around the pages leaves a way back as well. */
export function App(props: AppProps): JSX.Element {
  const [error, reset] = useErrorBoundary() as [unknown, () => void]
  return error === undefined ? (
    <Root {...props} />
  ) : (
    <main class="login">
      <ProblemNote error={error} retry={reset} />
    </main>
  )
}

const retryMinMs = 1000
const retryMaxMs = 30_000

/** No server has answered yet: it is asked again, as by the pages. */
function NotBegun({ problem: first, begin }: AppProps): JSX.Element {
  const problem = useSignal(first)
  const failedTimes = useSignal(0)
  const again = async (): Promise<void> => {
    try {
      await begin()
    } catch (error) {
      problem.value = error
      failedTimes.value++
    }
  }
  useEffect(
    () =>
      later(Math.min(retryMaxMs, retryMinMs * 2 ** failedTimes.value), () => {
        unawaited(again())
      }),
    [failedTimes.value],
  )
  return (
    <main class="login">
      <ProblemNote error={problem.value} retry={again} />
    </main>
  )
}

function Root(props: AppProps): JSX.Element {
  if (session.value === null) return <NotBegun {...props} />
  const { principal } = session.value
  return (
    <LocationProvider scope={`${basePath}/`}>
      {principal === null ? <LoginPage /> : <Pages key={principal.name} />}
      {hasEnded.value && <LoginDialog />}
      <ToastList />
      <ConfirmDialog />
      <BulkProgress />
    </LocationProvider>
  )
}

/** Each page is there for the default scheduler, and below the name of each one. */
const routes: readonly { readonly path: string; readonly entry: PageEntry }[] = pages.flatMap((entry) =>
  ['', '/schedulers/:scheduler'].map((place) => ({ path: `${basePath}${place}${entry.path}`, entry })),
)

function Pages(): JSX.Element {
  const { path } = useLocation()
  currentScheduler.value = schedulerIn(path)
  useEffect(() => (hasEnded.value ? undefined : live.start()), [hasEnded.value])
  useEffect(
    () => () => {
      // The next person who signs in has not asked for it to stand still.
      isPaused.value = false
    },
    [],
  )
  return (
    <Layout>
      {decoded(path) === null ? (
        <NotFoundPage />
      ) : (
        <ErrorBoundary>
          <Router>
            {routes.map(({ path: at, entry }) => (
              <Route key={at} path={at} component={Page} entry={entry} />
            ))}
            <Route default component={NotFoundPage} />
          </Router>
        </ErrorBoundary>
      )}
    </Layout>
  )
}

/** Null for an address that names none, and for the default one. */
function schedulerIn(path: string): string | null {
  const [, kind, name] = path.slice(basePath.length).split('/')
  if (kind !== 'schedulers' || name === undefined) return null
  return nameOf(decoded(name) ?? name)
}

/** A page of its own for each address: what one job's page has loaded is never shown for another job. */
function Page({
  entry,
  params,
}: {
  readonly entry?: PageEntry
  readonly params?: PageProps['params']
}): JSX.Element {
  const { path } = useLocation()
  const [error, reset] = useErrorBoundary() as [unknown, () => void]
  if (entry === undefined) return <NotFoundPage />
  if (error !== undefined) return <BrokenPage error={error} reset={reset} />
  const Component = entry.component
  const names = Object.fromEntries(Object.entries(params ?? {}).map(([field, part]) => [field, nameOf(part)]))
  return <Component key={path} params={names} />
}

function BrokenPage({ error, reset }: { readonly error: unknown; readonly reset: () => void }): JSX.Element {
  const words = shell()
  return (
    <>
      <PageHead title={words.broken} />
      <ProblemNote error={error} />
      <Button text={words.reload} onPress={reset} />
    </>
  )
}

function NotFoundPage(): JSX.Element {
  const words = shell()
  return (
    <>
      <PageHead title={words.notFound} />
      <Empty title={words.notFound} hint={words.notFoundHint}>
        <a class="button primary" href={href('/')}>
          {words.toOverview}
        </a>
      </Empty>
    </>
  )
}
